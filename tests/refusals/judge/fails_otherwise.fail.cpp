// expect-error: weir: an error that nobody makes
// This fails for a reason that is not the expected one, so the judge has to refuse it.
static_assert(sizeof(char) == 2, "another error");
int main() {}
