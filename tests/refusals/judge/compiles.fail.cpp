// expect-error: main
// Nothing is wrong here, so the judge has to refuse it.
int main() {}
