namespace attune {}
