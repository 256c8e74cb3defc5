/* Makes Luanti's client wait for us: preloaded into it, it gives out one frame a request and stops the clock between.

   The client draws, calls glXSwapBuffers, and stays there until the socket of MCRL_LOCKSTEP_FD says how much game time
   the next frame shall take, which keys go up or down, how far the mouse moves, and whether the frame is drawn in
   colours or as a map of cells (uniform mcrl_cells of our shaders). What it drew is read from the back buffer, so no
   frame is torn and none is older than its input. A closed socket ends the client: nothing survives its owner.

   Only CLOCK_MONOTONIC_RAW is ours: it is the clock of Luanti's frames, while locks and sockets wait by the others.
   Built by `cc -shared -fPIC` without any X or GL header, hence the few types below. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FLAG_CELLS 1u
#define FLAG_COLORS 2u
#define FLAG_DEPTH 4u
#define MAX_KEYS 32

struct request {
    uint64_t advance_ns;
    int32_t mouse_x, mouse_y; /* px from the middle */
    uint32_t flags;
    uint32_t num_keys;
};
struct key {
    uint32_t is_down, keysym;
};
struct reply {
    uint32_t width, height; /* px; what was asked for follows: RGB bytes, then float depth, bottom row first */
};

/* XKeyEvent and XFocusChangeEvent of Xlib.h, in the room of an XEvent. */
union event {
    struct {
        int type;
        unsigned long serial;
        int send_event;
        void *display;
        unsigned long window, root, subwindow, time;
        int x, y, x_root, y_root;
        unsigned int state, keycode;
        int same_screen;
    } key;
    struct {
        int type;
        unsigned long serial;
        int send_event;
        void *display;
        unsigned long window;
        int mode, detail;
    } focus;
    long room[24];
};

static uint64_t clock_ns = 1000000000ull;
static uint32_t wanted; /* flags of the frame being drawn */
static int32_t mouse_x, mouse_y;
static int viewport[4];

static void *real(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) _exit(70);
    return found;
}

static int owner(void) {
    static int fd = -2;
    if (fd == -2) {
        const char *text = getenv("MCRL_LOCKSTEP_FD");
        fd = text ? atoi(text) : -1;
    }
    return fd;
}

static void send_all(const void *bytes, size_t count) {
    const char *at = bytes;
    while (count) {
        ssize_t sent = write(owner(), at, count);
        if (sent <= 0) _exit(0);
        at += sent;
        count -= (size_t)sent;
    }
}

static void receive_all(void *bytes, size_t count) {
    char *at = bytes;
    while (count) {
        ssize_t got = read(owner(), at, count);
        if (got <= 0) _exit(0);
        at += got;
        count -= (size_t)got;
    }
}

int clock_gettime(clockid_t id, struct timespec *result) {
    static int (*next)(clockid_t, struct timespec *);
    if (!next) next = real("clock_gettime");
    if (id != CLOCK_MONOTONIC_RAW || owner() < 0) return next(id, result);
    uint64_t now_ns = __atomic_load_n(&clock_ns, __ATOMIC_ACQUIRE);
    result->tv_sec = (time_t)(now_ns / 1000000000ull);
    result->tv_nsec = (long)(now_ns % 1000000000ull);
    return 0;
}

/* The pointer is where we say, from the middle of the window, in which Luanti puts it back after every frame. */
int XQueryPointer(void *display, unsigned long window, unsigned long *root, unsigned long *child, int *root_x,
                  int *root_y, int *x, int *y, unsigned int *mask) {
    static int (*next)(void *, unsigned long, unsigned long *, unsigned long *, int *, int *, int *, int *,
                       unsigned int *);
    if (!next) next = real("XQueryPointer");
    int is_there = next(display, window, root, child, root_x, root_y, x, y, mask);
    if (owner() >= 0 && viewport[2]) {
        *x = *root_x = viewport[2] / 2 + mouse_x;
        *y = *root_y = viewport[3] / 2 + mouse_y;
    }
    return is_there;
}

/* Every shader hears which kind of frame this is as soon as it is put to use. */
static void (*use_program)(unsigned int);
static void use_program_and_tell(unsigned int program) {
    static int (*location_of)(unsigned int, const char *);
    static void (*set_float)(int, float);
    if (!location_of) location_of = real("glGetUniformLocation");
    if (!set_float) set_float = real("glUniform1f");
    use_program(program);
    if (!program) return;
    int place = location_of(program, "mcrl_cells");
    if (place >= 0) set_float(place, wanted & FLAG_CELLS ? 1.0f : 0.0f);
}

void *glXGetProcAddress(const unsigned char *name) {
    static void *(*next)(const unsigned char *);
    if (!next) next = real("glXGetProcAddress");
    void *found = next(name);
    if (found && owner() >= 0 && !strcmp((const char *)name, "glUseProgram")) {
        use_program = (void (*)(unsigned int))found;
        return (void *)use_program_and_tell;
    }
    return found;
}

void *glXGetProcAddressARB(const unsigned char *name) { return glXGetProcAddress(name); }

static void put_back(void *display, union event *event) {
    static int (*next)(void *, union event *);
    if (!next) next = real("XPutBackEvent");
    next(display, event);
}

static void press(void *display, unsigned long window, const struct key *key) {
    static unsigned char (*keycode_of)(void *, unsigned long);
    if (!keycode_of) keycode_of = real("XKeysymToKeycode");
    union event event;
    memset(&event, 0, sizeof event);
    event.key.type = key->is_down ? 2 : 3; /* KeyPress, KeyRelease */
    event.key.display = display;
    event.key.window = window;
    event.key.keycode = keycode_of(display, key->keysym);
    event.key.same_screen = 1;
    put_back(display, &event);
}

/* Without a window manager nobody gives the window the focus, and Luanti takes no key without it. */
static void focus(void *display, unsigned long window) {
    static int has_focus;
    if (has_focus) return;
    has_focus = 1;
    union event event;
    memset(&event, 0, sizeof event);
    event.focus.type = 9; /* FocusIn */
    event.focus.display = display;
    event.focus.window = window;
    put_back(display, &event);
}

static void show(void) {
    static void (*read_pixels)(int, int, int, int, unsigned int, unsigned int, void *);
    static void (*get_integers)(unsigned int, int *);
    static void (*store)(unsigned int, int);
    static char *pixels;
    static size_t room;
    if (!read_pixels) read_pixels = real("glReadPixels");
    if (!get_integers) get_integers = real("glGetIntegerv");
    if (!store) store = real("glPixelStorei");
    get_integers(0x0BA2, viewport); /* GL_VIEWPORT */
    struct reply reply = {(uint32_t)viewport[2], (uint32_t)viewport[3]};
    size_t count = (size_t)reply.width * reply.height;
    if (room < count * 4) {
        pixels = realloc(pixels, count * 4);
        room = count * 4;
        if (!pixels) _exit(71);
    }
    send_all(&reply, sizeof reply);
    store(0x0D05, 1); /* GL_PACK_ALIGNMENT */
    if (wanted & FLAG_COLORS) {
        read_pixels(0, 0, viewport[2], viewport[3], 0x1907, 0x1401, pixels); /* GL_RGB, GL_UNSIGNED_BYTE */
        send_all(pixels, count * 3);
    }
    if (wanted & FLAG_DEPTH) {
        read_pixels(0, 0, viewport[2], viewport[3], 0x1902, 0x1406, pixels); /* GL_DEPTH_COMPONENT, GL_FLOAT */
        send_all(pixels, count * 4);
    }
}

/* The frame stays in the back buffer: nobody looks at the window, and showing it would cost a copy. */
void glXSwapBuffers(void *display, unsigned long drawable) {
    if (owner() < 0) {
        static void (*next)(void *, unsigned long);
        if (!next) next = real("glXSwapBuffers");
        next(display, drawable);
        return;
    }
    show();
    struct request request;
    struct key keys[MAX_KEYS];
    receive_all(&request, sizeof request);
    if (request.num_keys > MAX_KEYS) _exit(72);
    receive_all(keys, request.num_keys * sizeof keys[0]);
    focus(display, drawable);
    for (uint32_t i = request.num_keys; i--;) press(display, drawable, &keys[i]); /* each goes before the last */
    mouse_x = request.mouse_x;
    mouse_y = request.mouse_y;
    wanted = request.flags;
    __atomic_fetch_add(&clock_ns, request.advance_ns, __ATOMIC_RELEASE);
}

/* A frame that nobody asked to see is not drawn: most of a software renderer's time is here. */
void glDrawElements(unsigned int mode, int count, unsigned int type, const void *indices) {
    static void (*next)(unsigned int, int, unsigned int, const void *);
    if (!next) next = real("glDrawElements");
    if (owner() < 0 || wanted) next(mode, count, type, indices);
}

void glDrawArrays(unsigned int mode, int first, int count) {
    static void (*next)(unsigned int, int, int);
    if (!next) next = real("glDrawArrays");
    if (owner() < 0 || wanted) next(mode, first, count);
}
