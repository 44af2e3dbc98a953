// Macros that other libraries and systems define, where a header of the library may come after them. Object-like
// macros are defined as text that no compiler takes, so each use of such a name in a header is an error; function-like
// macros take the number of arguments that the original takes.
// SPDX-License-Identifier: BSL-1.0

#define NOT_FOR_A_HEADER % a header uses the name of a macro %

// What the system or another library may have defined by now.
#undef B0
#undef B1
#undef B110
#undef ECHO
#undef MIN
#undef MAX
#undef TRUE
#undef FALSE
#undef linux
#undef unix
#undef major
#undef minor
#undef makedev
#undef roundup
#undef howmany
#undef powerof2
// Qt
#define slots NOT_FOR_A_HEADER
#define signals NOT_FOR_A_HEADER
#define emit NOT_FOR_A_HEADER
#define foreach(a, b) NOT_FOR_A_HEADER
#define forever NOT_FOR_A_HEADER
// X11
#define Status NOT_FOR_A_HEADER
#define Bool NOT_FOR_A_HEADER
#define None NOT_FOR_A_HEADER
#define Success NOT_FOR_A_HEADER
#define Always NOT_FOR_A_HEADER
#define True NOT_FOR_A_HEADER
#define False NOT_FOR_A_HEADER
#define Complex NOT_FOR_A_HEADER
#define Convex NOT_FOR_A_HEADER
#define Above NOT_FOR_A_HEADER
#define Below NOT_FOR_A_HEADER
#define Unsorted NOT_FOR_A_HEADER
#define CurrentTime NOT_FOR_A_HEADER
#define KeyPress NOT_FOR_A_HEADER
#define FocusIn NOT_FOR_A_HEADER
#define FontChange NOT_FOR_A_HEADER
#define Expose NOT_FOR_A_HEADER
#define GrayScale NOT_FOR_A_HEADER
#define CursorShape NOT_FOR_A_HEADER
#define Opposite NOT_FOR_A_HEADER
#define BadRequest NOT_FOR_A_HEADER
#define BadValue NOT_FOR_A_HEADER
// Windows
#define far NOT_FOR_A_HEADER
#define near NOT_FOR_A_HEADER
#define small NOT_FOR_A_HEADER
#define hyper NOT_FOR_A_HEADER
#define interface NOT_FOR_A_HEADER
#define pascal NOT_FOR_A_HEADER
#define cdecl NOT_FOR_A_HEADER
#define rad1 NOT_FOR_A_HEADER
#define grp1 NOT_FOR_A_HEADER
#define IN NOT_FOR_A_HEADER
#define OUT NOT_FOR_A_HEADER
#define OPTIONAL NOT_FOR_A_HEADER
#define CONST NOT_FOR_A_HEADER
#define VOID NOT_FOR_A_HEADER
#define ERROR NOT_FOR_A_HEADER
#define NO_ERROR NOT_FOR_A_HEADER
#define DELETE NOT_FOR_A_HEADER
#define IGNORE NOT_FOR_A_HEADER
#define STRICT NOT_FOR_A_HEADER
#define INFINITE NOT_FOR_A_HEADER
#define TRANSPARENT NOT_FOR_A_HEADER
#define OPAQUE NOT_FOR_A_HEADER
#define RELATIVE NOT_FOR_A_HEADER
#define ABSOLUTE NOT_FOR_A_HEADER
#define DIFFERENCE NOT_FOR_A_HEADER
#define MUTEX NOT_FOR_A_HEADER
#define EVENT NOT_FOR_A_HEADER
#define TIMEOUT NOT_FOR_A_HEADER
#define CALLBACK NOT_FOR_A_HEADER
#define THIS NOT_FOR_A_HEADER
#define PURE NOT_FOR_A_HEADER
#define Yield() NOT_FOR_A_HEADER
#define GetObject NOT_FOR_A_HEADER
#define GetMessage NOT_FOR_A_HEADER
#define SendMessage NOT_FOR_A_HEADER
#define CreateFile NOT_FOR_A_HEADER
#define CopyFile NOT_FOR_A_HEADER
#define CreateEvent NOT_FOR_A_HEADER
#define GetCurrentTime NOT_FOR_A_HEADER
#define ReportEvent NOT_FOR_A_HEADER
#define GetJob NOT_FOR_A_HEADER
#define min(a, b) NOT_FOR_A_HEADER
#define max(a, b) NOT_FOR_A_HEADER
// Unreal, Apple, Arduino
#define check(a) NOT_FOR_A_HEADER
#define checkf(a, ...) NOT_FOR_A_HEADER
#define verify(a) NOT_FOR_A_HEADER
#define verifyf(a, ...) NOT_FOR_A_HEADER
#define require(a, b) NOT_FOR_A_HEADER
#define ensure(a) NOT_FOR_A_HEADER
#define ensureMsgf(a, ...) NOT_FOR_A_HEADER
#define unimplemented() NOT_FOR_A_HEADER
#define TEXT(a) NOT_FOR_A_HEADER
#define FORCEINLINE NOT_FOR_A_HEADER
#define LIKELY(a) NOT_FOR_A_HEADER
#define UNLIKELY(a) NOT_FOR_A_HEADER
#define nil NOT_FOR_A_HEADER
#define Nil NOT_FOR_A_HEADER
#define YES NOT_FOR_A_HEADER
#define NO NOT_FOR_A_HEADER
#define PI NOT_FOR_A_HEADER
#define F(a) NOT_FOR_A_HEADER
#define B0 NOT_FOR_A_HEADER
#define B1 NOT_FOR_A_HEADER
#define B110 NOT_FOR_A_HEADER
#define HIGH NOT_FOR_A_HEADER
#define LOW NOT_FOR_A_HEADER
#define INPUT NOT_FOR_A_HEADER
#define OUTPUT NOT_FOR_A_HEADER
#define DEFAULT NOT_FOR_A_HEADER
#define EXTERNAL NOT_FOR_A_HEADER
#define bit(a) NOT_FOR_A_HEADER
#define sq(a) NOT_FOR_A_HEADER
#define word(a) NOT_FOR_A_HEADER
#define constrain(a, b, c) NOT_FOR_A_HEADER
#define interrupts() NOT_FOR_A_HEADER
// <complex.h>, <strings.h>, <sys/param.h>, <sys/sysmacros.h>, <termios.h>, curses, GNU dialects
#define I NOT_FOR_A_HEADER
#define complex NOT_FOR_A_HEADER
#define imaginary NOT_FOR_A_HEADER
#define index(a, b) NOT_FOR_A_HEADER
#define rindex(a, b) NOT_FOR_A_HEADER
#define bcopy(a, b, c) NOT_FOR_A_HEADER
#define bzero(a, b) NOT_FOR_A_HEADER
#define MIN(a, b) NOT_FOR_A_HEADER
#define MAX(a, b) NOT_FOR_A_HEADER
#define roundup(a, b) NOT_FOR_A_HEADER
#define howmany(a, b) NOT_FOR_A_HEADER
#define powerof2(a) NOT_FOR_A_HEADER
#define major(a) NOT_FOR_A_HEADER
#define minor(a) NOT_FOR_A_HEADER
#define makedev(a, b) NOT_FOR_A_HEADER
#define ECHO NOT_FOR_A_HEADER
#define timeout(a) NOT_FOR_A_HEADER
#define getch() NOT_FOR_A_HEADER
#define stdscr NOT_FOR_A_HEADER
#define unix NOT_FOR_A_HEADER
#define linux NOT_FOR_A_HEADER
// Logging, tests, and what macros are commonly called
#define LOG(a) NOT_FOR_A_HEADER
#define CHECK(a) NOT_FOR_A_HEADER
#define REQUIRE(a) NOT_FOR_A_HEADER
#define EXPECT(a) NOT_FOR_A_HEADER
#define ASSERT(a) NOT_FOR_A_HEADER
#define FAIL(a) NOT_FOR_A_HEADER
#define TEST(a, b) NOT_FOR_A_HEADER
#define INFO NOT_FOR_A_HEADER
#define DEBUG NOT_FOR_A_HEADER
#define WARNING NOT_FOR_A_HEADER
#define FATAL NOT_FOR_A_HEADER
#define OK NOT_FOR_A_HEADER
#define TRUE NOT_FOR_A_HEADER
#define FALSE NOT_FOR_A_HEADER
#define ABS(a) NOT_FOR_A_HEADER
#define SIZE NOT_FOR_A_HEADER
#define EMPTY NOT_FOR_A_HEADER
