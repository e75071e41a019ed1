// The bottom rung: one thread does everything.
extern "C" __global__ void reduce_thread(const In* in, const In* other, Index n, Value shift, Value scale, Value bias, Value* out) {
  const Scalars scalars{shift, scale, bias};
  Value x = Operator::identity();
  for (Index i = 0; i < n; ++i)
    x = Operator::combine(x, mapped(attune::load_element(in + i), kTwoInputs ? attune::load_element(other + i) : Value{0}, scalars));
  *out = finished(x, n, scalars);
}
