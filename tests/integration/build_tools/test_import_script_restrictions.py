"""tools/python/import_script.py on small scripts: what becomes of the restrictions of a call, by reading them or by trying them."""
import unittest

from import_script_case import Scripts, call


class Restrictions(Scripts):
    def test_texts_are_taken_as_they_are(self):
        texts = ["tile * block_size_x <= 256", "mode == 0 or tile in (1, 2)"]
        document = self.taken(call(restrictions=repr(texts)))
        self.assertEqual([one["Expression"] for one in document["ConfigurationSpace"]["Conditions"]], texts)
        # tile * block <= 256: 4 + 4 + 2 + 1 = 11, of those with tile <= 2: 2 + 2 + 2 + 1 = 7
        self.assertEqual(self.count(document), 11 + 7)

    def test_texts_with_chains_and_lists_are_said_in_the_words_of_conditions(self):
        self.assertEqual(self.conditions(call(restrictions='["64 <= block_size_x < 256 and tile not in [3]"]')), ["64 <= block_size_x", "block_size_x < 256", "tile != 3"])

    def test_a_lambda_of_the_dictionary_is_read_with_what_stands_around_it(self):
        before = "LIMIT = 256\ndef restriction(factor):\n    return lambda p: p['block_size_x'] * p[\"tile\"] * factor <= LIMIT"
        self.assertEqual(self.conditions(call(before, restrictions="restriction(2)")), ["block_size_x * tile * 2 <= 256"])

    def test_a_lambda_of_named_parameters_is_read(self):
        self.assertEqual(self.conditions(call(restrictions="[lambda tile, block_size_x: tile * block_size_x > 64]")), ["tile * block_size_x > 64"])

    def test_a_function_with_the_names_that_it_takes_is_read(self):
        self.assertEqual(self.conditions(call("def big(a, b):\n    return a > b * 32", restrictions='[(big, ["block_size_x", "tile"])]')), ["block_size_x > tile * 32"])

    def test_lambdas_in_one_line_are_told_apart(self):
        self.assertEqual(self.conditions(call(restrictions='[lambda p: p["tile"] > 1, lambda p: p["tile"] < 4, lambda p: p["mode"] == 1]')), ["tile > 1", "tile < 4", "mode == 1"])

    def test_a_function_of_several_statements_is_read(self):
        before = '''
WIDTHS = {"small": 64}
def threads(p, factor=2):
    return p["block_size_x"] * factor
def valid(p):
    """Whether it runs."""
    total = threads(p) * p["tile"]
    if p["mode"] == 1:
        return total <= 512
    for tile in (3, 4):
        if p["tile"] == tile and total > 256:
            return False
    return total >= WIDTHS["small"]'''
        told = self.told(call(before, restrictions="valid"))
        self.assertIn("read from its source", told["calls"][0]["taken"][0])
        # mode 1, 2 * block * tile <= 512: 4 + 4 + 2 + 1 = 11 as above; mode 0: all 8 of tiles 1 and 2; of tile 3, 2 * 32 * 3 = 192 only; of tile 4, 256 only
        self.assertEqual(self.count(self.file()), 11 + 8 + 1 + 1)

    def test_all_and_any_and_comprehensions_are_read(self):
        told = self.told(call(restrictions='lambda p: all(p[name] % 2 == 0 for name in ["block_size_x", "tile"]) and any([p["mode"] == 1, p["tile"] > 3])'))
        self.assertIn("read from its source", told["calls"][0]["taken"][0])
        self.assertEqual(self.count(self.file()), 4 * (2 + 1))  # mode 1: tiles 2 and 4; mode 0: tile 4

    def test_what_cannot_be_read_is_tried_at_every_combination(self):
        told = self.told(call("import math", restrictions='lambda p: math.gcd(p["block_size_x"], p["tile"] * 32) == 64'))
        self.assertIn("tried at every combination", told["calls"][0]["taken"][0])
        # gcd(b, 32 t) == 64: t = 2: b = 64, 128, 256; t = 4: b = 64
        self.assertEqual(self.count(self.file()), 2 * (3 + 1))
        self.assertTrue(all("mode" not in one["Parameters"] for one in self.file()["ConfigurationSpace"]["Conditions"]))

    def test_what_is_tried_is_said_of_numbers_by_bounds_and_of_texts_by_name(self):
        space = {"n": list(range(10)), "kind": ["one", "two", "three"]}
        self.assertEqual(self.conditions(call(space=space, restrictions='[lambda p: len("x" * p["n"]) < 4, lambda p: len(p["kind"]) == 3]')), ["n <= 3", "kind != 'three'"])

    def test_a_function_that_can_only_be_tried_at_too_many_points_is_refused(self):
        space = {name: list(range(40)) for name in "abcde"}  # 40^5 is 102 million
        told = self.told(call(space=space, restrictions='lambda p: hash((p["a"], p["b"], p["c"], p["d"], p["e"])) % 2 == 0'), code=5)
        self.assertIn("102400000 combinations", told["calls"][0]["problems"][0])
        self.assertFalse(self.file()["Import"]["importable"])

    def test_combinations_that_divide_by_zero_are_kept_with_a_note(self):
        told = self.told(call(restrictions='["tile % mode == 0"]'))
        self.assertIn("divides by zero at 4 of 8", told["calls"][0]["notes"][0])
        self.assertEqual(self.conditions(call(restrictions='["8 % (tile - 1) == 0"]')), ["tile != 4"])  # 8 % 0: kept, 8 % 1 and 8 % 2 are 0, 8 % 3 is 2

    def test_a_guard_stays_with_what_it_guards(self):
        self.assertEqual(self.conditions(call(restrictions='["mode != 0 and tile % mode == 0"]')), ["mode != 0 and tile % mode == 0"])

    def test_a_restriction_that_fails_is_named(self):
        problem = self.told(call(restrictions='[lambda p: p["tiles"] > 1]'), code=5)["calls"][0]["problems"][0]
        self.assertIn("the lambda in line", problem)
        self.assertIn("tiles", problem)


if __name__ == "__main__":
    unittest.main()
