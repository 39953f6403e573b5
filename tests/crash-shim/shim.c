/* Records how a process changes the files under one folder.
 *
 * Loaded with LD_PRELOAD. Every call of libc that changes a file or a folder is interposed; under the folder
 * $CAIRN_CRASH_ROOT (an absolute path without symbolic links) it is performed and then appended to the file
 * $CAIRN_CRASH_JOURNAL, with its data, all under one mutex: the order of the journal is the order of the effects.
 * Elsewhere it is only performed. Calls that fail change nothing and are not recorded.
 *
 * With $CAIRN_CRASH_KILL_AFTER=N the process kills itself (SIGKILL) behind its Nth record. No other call can be
 * under way then, so that the journal holds all that happened.
 *
 * With $CAIRN_CRASH_FULL_FLAG, the disk is full as long as that file is there, behind the first $CAIRN_CRASH_FULL_AFTER
 * writes of RocksDB's log (a file *.log under state/): of the next write half the bytes are written, then every write
 * under state/ fails with ENOSPC. The file systems go on saying that they have room.
 *
 * With $CAIRN_CRASH_FULL_PATHS as well, it is full for what begins with one of these paths, which are relative to the
 * folder and have colons between them, and for nothing else: of the first write to each half the bytes are written.
 *
 * A record: length of what follows (u32), kind (u8), then fields. Numbers are little-endian u64, texts and data a
 * u32 length and the bytes, paths relative to the folder.
 *
 *   P                     a process started
 *   C path inode          file created, empty
 *   W inode offset data   bytes written
 *   T inode length        length set
 *   S inode               file synced (fsync, fdatasync)
 *   G path                folder synced
 *   R from to             renamed, a file that was there replaced
 *   L from to             hard link made
 *   U path                name removed
 *   M path                folder made
 *   D path                folder removed
 *   K                     the process killed itself
 *   X text                something changes files in a way that is not recorded here
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ || __SIZEOF_LONG__ != 8
#error "written for little-endian machines of 64 bits"
#endif

/* The other name that libc has for a function where `off_t` has 64 bits anyway. */
#define TWIN(name) __attribute__((alias(#name)))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char root[PATH_MAX];
static size_t root_len;
static int journal = -1;
static long kill_after = -1;
static const char *full_flag, *full_paths;
static unsigned full_paths_begun;
static long full_after;
static int half_written;

static void die(const char *what) {
    (void)!syscall(SYS_write, 2, what, strlen(what));
    (void)!syscall(SYS_write, 2, "\n", 1);
    _exit(99);
}

/* ---- The journal ------------------------------------------------------------------------------------------- */

struct record {
    unsigned char *bytes;
    size_t len, room;
};

static void put(struct record *record, const void *bytes, size_t len) {
    if (record->len + len > record->room) {
        record->room = (record->len + len) * 2 + 64;
        record->bytes = realloc(record->bytes, record->room);
        if (!record->bytes) die("crash shim: no memory");
    }
    memcpy(record->bytes + record->len, bytes, len);
    record->len += len;
}

static struct record begin(char kind) {
    struct record record = {NULL, 0, 0};
    put(&record, "\0\0\0", 4);
    put(&record, &kind, 1);
    return record;
}

static void put_number(struct record *record, uint64_t number) { put(record, &number, 8); }

static void put_bytes(struct record *record, const void *bytes, size_t len) {
    uint32_t length = (uint32_t)len;
    put(record, &length, 4);
    put(record, bytes, len);
}

static void put_text(struct record *record, const char *text) { put_bytes(record, text, strlen(text)); }

/* Appends a record. The mutex is held, except at the start. */
static void end(struct record record) {
    int saved = errno;
    uint32_t length = (uint32_t)(record.len - 4);
    memcpy(record.bytes, &length, 4);
    for (size_t done = 0; done < record.len;) {
        long n = syscall(SYS_write, journal, record.bytes + done, record.len - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) die("crash shim: the journal cannot be written");
        done += (size_t)n;
    }
    free(record.bytes);
    if (kill_after > 0 && --kill_after == 0) {
        (void)!syscall(SYS_write, journal, "\1\0\0\0K", 5);
        syscall(SYS_kill, getpid(), SIGKILL);
        for (;;) pause();
    }
    errno = saved;
}

static void unknown(const char *call, const char *path) {
    struct record record = begin('X');
    char text[PATH_MAX + 64];
    snprintf(text, sizeof text, "%s of %s", call, path);
    put_text(&record, text);
    end(record);
}

__attribute__((constructor)) static void start(void) {
    const char *folder = getenv("CAIRN_CRASH_ROOT"), *file = getenv("CAIRN_CRASH_JOURNAL");
    const char *count = getenv("CAIRN_CRASH_KILL_AFTER");
    if (!folder || !file) return;
    if (strlen(folder) >= sizeof root) die("crash shim: CAIRN_CRASH_ROOT is too long");
    /* Out of the way of the low numbers that the process will have. */
    int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    journal = fcntl(fd, F_DUPFD_CLOEXEC, 900);
    if (journal < 0) journal = fd;
    if (journal < 0) die("crash shim: CAIRN_CRASH_JOURNAL cannot be opened");
    if (journal != fd) close(fd);
    if (count) kill_after = atol(count);
    full_flag = getenv("CAIRN_CRASH_FULL_FLAG");
    full_paths = getenv("CAIRN_CRASH_FULL_PATHS");
    if (getenv("CAIRN_CRASH_FULL_AFTER")) full_after = atol(getenv("CAIRN_CRASH_FULL_AFTER"));
    strcpy(root, folder);
    root_len = strlen(root);
    end(begin('P'));
}

/* ---- What lies under the folder ---------------------------------------------------------------------------- */

/* The path under the folder, without the slash before it; NULL if it is elsewhere. */
static const char *under(const char *path) {
    if (!root_len || strncmp(path, root, root_len) != 0) return NULL;
    if (path[root_len] == '\0') return path + root_len;
    return path[root_len] == '/' ? path + root_len + 1 : NULL;
}

static int path_of_fd(int fd, char *out) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    long n = syscall(SYS_readlinkat, AT_FDCWD, link, out, PATH_MAX - 1);
    if (n < 0) return 0;
    out[n] = '\0';
    return 1;
}

/* The absolute path of an argument, doubled slashes and "." taken out. */
static const char *resolve(int folder, const char *path, char *out) {
    int saved = errno;
    size_t len = 0;
    if (!root_len || !path) return NULL;
    if (path[0] != '/') {
        if (folder == AT_FDCWD ? !getcwd(out, PATH_MAX) : !path_of_fd(folder, out)) {
            errno = saved;
            return NULL;
        }
        len = strlen(out);
    }
    while (*path) {
        size_t part = strcspn(path, "/");
        if (part != 0 && !(part == 1 && path[0] == '.')) {
            if (len + part + 2 > PATH_MAX) return NULL;
            out[len++] = '/';
            memcpy(out + len, path, part);
            len += part;
        }
        path += part;
        if (*path == '/') path++;
    }
    out[len] = '\0';
    errno = saved;
    const char *ours = under(out);
    if (ours && strstr(out, "/../")) unknown("a path with .. in it", out);
    return ours;
}

/* Whether a descriptor is of a file or folder under the folder. */
static const char *ours(int fd, char *buffer, struct stat *facts) {
    int saved = errno;
    const char *path = NULL;
    if (root_len && path_of_fd(fd, buffer)) path = under(buffer);
    if (path && (fstat(fd, facts) != 0 || (!S_ISREG(facts->st_mode) && !S_ISDIR(facts->st_mode)))) path = NULL;
    errno = saved;
    return path;
}

static uint64_t inode_of(int fd) {
    struct stat facts;
    int saved = errno;
    if (fstat(fd, &facts) != 0) die("crash shim: fstat failed");
    errno = saved;
    return facts.st_ino;
}

/* ---- Opening ----------------------------------------------------------------------------------------------- */

static int open_at(int folder, const char *path, int flags, mode_t mode) {
    char buffer[PATH_MAX];
    const char *name = NULL;
    if (flags & (O_CREAT | O_TRUNC)) name = resolve(folder, path, buffer);
    if ((flags & O_TMPFILE) == O_TMPFILE && resolve(folder, path, buffer)) unknown("open with O_TMPFILE", path);
    if (!name) return (int)syscall(SYS_openat, folder, path, flags, mode);
    pthread_mutex_lock(&lock);
    struct stat before;
    int saved = errno, existed = fstatat(folder, path, &before, 0) == 0;
    errno = saved;
    int fd = (int)syscall(SYS_openat, folder, path, flags, mode);
    if (fd >= 0 && !existed) {
        struct record record = begin('C');
        put_text(&record, name);
        put_number(&record, inode_of(fd));
        end(record);
    } else if (fd >= 0 && (flags & O_TRUNC) && before.st_size > 0) {
        struct record record = begin('T');
        put_number(&record, before.st_ino);
        put_number(&record, 0);
        end(record);
    }
    pthread_mutex_unlock(&lock);
    return fd;
}

static mode_t mode_of(int flags, va_list list) {
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(list, mode_t) : 0;
}

int open(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    mode_t mode = mode_of(flags, list);
    va_end(list);
    return open_at(AT_FDCWD, path, flags, mode);
}
int open64(const char *path, int flags, ...) TWIN(open);

int openat(int folder, const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    mode_t mode = mode_of(flags, list);
    va_end(list);
    return open_at(folder, path, flags, mode);
}
int openat64(int folder, const char *path, int flags, ...) TWIN(openat);

int __open_2(const char *path, int flags) { return open_at(AT_FDCWD, path, flags, 0); }
int __open64_2(const char *path, int flags) TWIN(__open_2);
int __openat_2(int folder, const char *path, int flags) { return open_at(folder, path, flags, 0); }
int __openat64_2(int folder, const char *path, int flags) TWIN(__openat_2);

int creat(const char *path, mode_t mode) {
    return open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}
int creat64(const char *path, mode_t mode) TWIN(creat);

/* ---- Writing ----------------------------------------------------------------------------------------------- */

/* Gathers what was written of several buffers. */
static void record_write(uint64_t inode, off_t offset, const struct iovec *parts, int count, size_t written) {
    if (written == 0) return;
    struct record record = begin('W');
    put_number(&record, inode);
    put_number(&record, (uint64_t)offset);
    uint32_t length = (uint32_t)written;
    put(&record, &length, 4);
    for (int i = 0; i < count && written > 0; i++) {
        size_t part = parts[i].iov_len < written ? parts[i].iov_len : written;
        put(&record, parts[i].iov_base, part);
        written -= part;
    }
    end(record);
}

static int is_flagged(void) {
    int saved = errno, flagged = syscall(SYS_faccessat, AT_FDCWD, full_flag, F_OK) == 0;
    errno = saved;
    return flagged;
}

/* Whether this write finds no room by the list of paths. The mutex is held. */
static int is_on_full_path(const char *path) {
    const char *next = full_paths;
    for (unsigned at = 0; *next; at++) {
        size_t len = strcspn(next, ":");
        if (strncmp(path, next, len) == 0) {
            if (!is_flagged()) return 0;
            half_written = (full_paths_begun >> at) & 1;
            full_paths_begun |= 1u << at;
            return 1;
        }
        next += len + (next[len] == ':');
    }
    return 0;
}

/* Whether this write finds no room. The mutex is held. */
static int is_full(const char *path) {
    size_t len = strlen(path);
    if (full_flag && full_paths) return is_on_full_path(path);
    if (!full_flag || strncmp(path, "state/", 6) != 0) return 0;
    int is_log = len > 4 && strcmp(path + len - 4, ".log") == 0;
    if (full_after > 0) {
        full_after -= is_log;
        return 0;
    }
    return is_flagged() && (half_written || is_log);
}

/* `offset` of -1: where the descriptor stands. */
static ssize_t write_parts(int fd, const struct iovec *parts, int count, off_t offset) {
    char buffer[PATH_MAX];
    struct stat facts;
    const char *path = ours(fd, buffer, &facts);
    int recorded = path != NULL;
    if (recorded) pthread_mutex_lock(&lock);
    struct iovec half;
    if (recorded && is_full(path)) {
        if (half_written || count != 1 || parts[0].iov_len < 2) {
            half_written = 1;
            pthread_mutex_unlock(&lock);
            errno = ENOSPC;
            return -1;
        }
        half_written = 1;
        half = parts[0];
        half.iov_len /= 2;
        parts = &half;
    }
    off_t at = offset;
    if (recorded) {
        int saved = errno;
        int flags = fcntl(fd, F_GETFL);
        if (flags & O_APPEND) {
            if (fstat(fd, &facts) != 0) die("crash shim: fstat failed");
            at = facts.st_size;
        } else if (offset < 0) {
            at = lseek(fd, 0, SEEK_CUR);
        }
        errno = saved;
    }
    ssize_t n;
    if (count == 1 && offset < 0)
        n = syscall(SYS_write, fd, parts[0].iov_base, parts[0].iov_len);
    else if (count == 1)
        n = syscall(SYS_pwrite64, fd, parts[0].iov_base, parts[0].iov_len, offset);
    else if (offset < 0)
        n = syscall(SYS_writev, fd, parts, count);
    else
        n = syscall(SYS_pwritev, fd, parts, count, offset, 0L);
    if (recorded) {
        if (n > 0) record_write(facts.st_ino, at, parts, count, (size_t)n);
        pthread_mutex_unlock(&lock);
    }
    return n;
}

ssize_t write(int fd, const void *bytes, size_t len) {
    struct iovec part = {(void *)bytes, len};
    return write_parts(fd, &part, 1, -1);
}
ssize_t pwrite(int fd, const void *bytes, size_t len, off_t offset) {
    struct iovec part = {(void *)bytes, len};
    return write_parts(fd, &part, 1, offset);
}
ssize_t pwrite64(int fd, const void *bytes, size_t len, off64_t offset) TWIN(pwrite);
ssize_t writev(int fd, const struct iovec *parts, int count) { return write_parts(fd, parts, count, -1); }
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
    return write_parts(fd, parts, count, offset);
}
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset) TWIN(pwritev);
ssize_t pwritev2(int fd, const struct iovec *parts, int count, off_t offset, int flags) {
    (void)flags;
    return write_parts(fd, parts, count, offset);
}
ssize_t pwritev64v2(int fd, const struct iovec *parts, int count, off64_t offset, int flags)
    TWIN(pwritev2);

/* Records what a copy inside the kernel wrote, by reading it back. */
static void record_copy(int fd, off_t at, size_t len) {
    char *bytes = malloc(len ? len : 1);
    if (!bytes) die("crash shim: no memory");
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    int reader = (int)syscall(SYS_openat, AT_FDCWD, link, O_RDONLY | O_CLOEXEC);
    for (size_t done = 0; done < len;) {
        long n = syscall(SYS_pread64, reader, bytes + done, len - done, at + (off_t)done);
        if (n <= 0) die("crash shim: a copy cannot be read back");
        done += (size_t)n;
    }
    close(reader);
    struct iovec part = {bytes, len};
    record_write(inode_of(fd), at, &part, 1, len);
    free(bytes);
}

static ssize_t copy(int call, int to, int from, off_t *to_offset, off_t *from_offset, size_t len) {
    char buffer[PATH_MAX];
    struct stat facts;
    int recorded = ours(to, buffer, &facts) != NULL, saved = errno;
    if (recorded) pthread_mutex_lock(&lock);
    off_t at = to_offset ? *to_offset : lseek(to, 0, SEEK_CUR);
    errno = saved;
    ssize_t n = call == SYS_sendfile ? syscall(SYS_sendfile, to, from, from_offset, len)
                                     : syscall(SYS_copy_file_range, from, from_offset, to, to_offset, len, 0);
    if (recorded) {
        saved = errno;
        if (n > 0) record_copy(to, at, (size_t)n);
        errno = saved;
        pthread_mutex_unlock(&lock);
    }
    return n;
}

ssize_t copy_file_range(int from, off64_t *from_offset, int to, off64_t *to_offset, size_t len, unsigned flags) {
    (void)flags;
    return copy(SYS_copy_file_range, to, from, (off_t *)to_offset, (off_t *)from_offset, len);
}
ssize_t sendfile(int to, int from, off_t *offset, size_t len) {
    return copy(SYS_sendfile, to, from, NULL, offset, len);
}
ssize_t sendfile64(int to, int from, off64_t *offset, size_t len) TWIN(sendfile);

void *mmap(void *address, size_t len, int protection, int flags, int fd, off_t offset) {
    char buffer[PATH_MAX];
    struct stat facts;
    int shared = (flags & MAP_TYPE) == MAP_SHARED || (flags & MAP_TYPE) == MAP_SHARED_VALIDATE;
    if (root_len && fd >= 0 && shared && (protection & PROT_WRITE) && ours(fd, buffer, &facts)) {
        pthread_mutex_lock(&lock);
        unknown("mmap for writing", buffer);
        pthread_mutex_unlock(&lock);
    }
    return (void *)syscall(SYS_mmap, address, len, protection, flags, fd, offset);
}
void *mmap64(void *address, size_t len, int protection, int flags, int fd, off64_t offset) TWIN(mmap);

/* ---- Length ------------------------------------------------------------------------------------------------ */

static void record_length(uint64_t inode, off_t len) {
    struct record record = begin('T');
    put_number(&record, inode);
    put_number(&record, (uint64_t)len);
    end(record);
}

int ftruncate(int fd, off_t len) {
    char buffer[PATH_MAX];
    struct stat facts;
    if (!ours(fd, buffer, &facts)) return (int)syscall(SYS_ftruncate, fd, len);
    pthread_mutex_lock(&lock);
    int result = (int)syscall(SYS_ftruncate, fd, len);
    if (result == 0) record_length(facts.st_ino, len);
    pthread_mutex_unlock(&lock);
    return result;
}
int ftruncate64(int fd, off64_t len) TWIN(ftruncate);

int truncate(const char *path, off_t len) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    int result = ftruncate(fd, len), saved = errno;
    close(fd);
    errno = saved;
    return result;
}
int truncate64(const char *path, off64_t len) TWIN(truncate);

int fallocate(int fd, int mode, off_t offset, off_t len) {
    char buffer[PATH_MAX];
    struct stat facts;
    if (!ours(fd, buffer, &facts)) return (int)syscall(SYS_fallocate, fd, mode, offset, len);
    pthread_mutex_lock(&lock);
    int result = (int)syscall(SYS_fallocate, fd, mode, offset, len);
    if (result == 0) {
        if (mode & ~FALLOC_FL_KEEP_SIZE && mode != (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE)) {
            unknown("fallocate with an unknown mode", buffer);
        } else if (mode & FALLOC_FL_PUNCH_HOLE) {
            /* Inside the file it would write zeros. */
            if (fstat(fd, &facts) == 0 && offset < facts.st_size) unknown("fallocate inside", buffer);
        } else if (mode == 0 && fstat(fd, &facts) == 0 && facts.st_size == offset + len) {
            record_length(facts.st_ino, offset + len);
        }
    }
    pthread_mutex_unlock(&lock);
    return result;
}
int fallocate64(int fd, int mode, off64_t offset, off64_t len) TWIN(fallocate);

int posix_fallocate(int fd, off_t offset, off_t len) {
    int saved = errno, result = fallocate(fd, 0, offset, len) == 0 ? 0 : errno;
    errno = saved;
    return result;
}
int posix_fallocate64(int fd, off64_t offset, off64_t len) TWIN(posix_fallocate);

/* ---- Syncing ----------------------------------------------------------------------------------------------- */

static int sync_fd(int fd, long call) {
    char buffer[PATH_MAX];
    struct stat facts;
    const char *path = ours(fd, buffer, &facts);
    if (!path) return (int)syscall(call, fd);
    pthread_mutex_lock(&lock);
    int result = (int)syscall(call, fd);
    if (result == 0 && S_ISDIR(facts.st_mode)) {
        struct record record = begin('G');
        put_text(&record, path);
        end(record);
    } else if (result == 0) {
        struct record record = begin('S');
        put_number(&record, facts.st_ino);
        end(record);
    }
    pthread_mutex_unlock(&lock);
    return result;
}

int fsync(int fd) { return sync_fd(fd, SYS_fsync); }
int fdatasync(int fd) { return sync_fd(fd, SYS_fdatasync); }

/* sync_file_range promises nothing about a power cut, sync and syncfs are not counted: the journal shows less to
 * be durable than is. */

/* ---- Names ------------------------------------------------------------------------------------------------- */

/* One or two paths, both under the folder or both elsewhere. */
static int change_names(char kind, int from_folder, const char *from, int to_folder, const char *to, int flags) {
    char from_buffer[PATH_MAX], to_buffer[PATH_MAX];
    const char *from_name = resolve(from_folder, from, from_buffer);
    const char *to_name = to ? resolve(to_folder, to, to_buffer) : NULL;
    int recorded = from_name || to_name;
    if (recorded) pthread_mutex_lock(&lock);
    if (recorded && to && (!from_name || !to_name)) unknown("a name moved into or out of the folder", from);
    if (kind == 'R' && recorded && flags) unknown("renameat2 with flags", from);
    int result = -1;
    switch (kind) {
    case 'R':
        result = (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
        break;
    case 'L':
        result = (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
        break;
    case 'U':
    case 'D':
        result = (int)syscall(SYS_unlinkat, from_folder, from, kind == 'D' ? AT_REMOVEDIR : 0);
        break;
    case 'M':
        result = (int)syscall(SYS_mkdirat, from_folder, from, flags);
        break;
    }
    if (result == 0 && from_name && (to_name || !to)) {
        struct record record = begin(kind);
        put_text(&record, from_name);
        if (to) put_text(&record, to_name);
        end(record);
    }
    if (recorded) pthread_mutex_unlock(&lock);
    return result;
}

int rename(const char *from, const char *to) { return change_names('R', AT_FDCWD, from, AT_FDCWD, to, 0); }
int renameat(int from_folder, const char *from, int to_folder, const char *to) {
    return change_names('R', from_folder, from, to_folder, to, 0);
}
int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
    return change_names('R', from_folder, from, to_folder, to, (int)flags);
}
int link(const char *from, const char *to) { return change_names('L', AT_FDCWD, from, AT_FDCWD, to, 0); }
int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    return change_names('L', from_folder, from, to_folder, to, flags);
}
int unlink(const char *path) { return change_names('U', AT_FDCWD, path, 0, NULL, 0); }
int unlinkat(int folder, const char *path, int flags) {
    return change_names(flags & AT_REMOVEDIR ? 'D' : 'U', folder, path, 0, NULL, 0);
}
int rmdir(const char *path) { return change_names('D', AT_FDCWD, path, 0, NULL, 0); }
int remove(const char *path) {
    int result = unlink(path);
    return result != 0 && (errno == EISDIR || errno == EPERM) ? rmdir(path) : result;
}
int mkdir(const char *path, mode_t mode) { return change_names('M', AT_FDCWD, path, 0, NULL, (int)mode); }
int mkdirat(int folder, const char *path, mode_t mode) {
    return change_names('M', folder, path, 0, NULL, (int)mode);
}

int symlinkat(const char *target, int folder, const char *path) {
    char buffer[PATH_MAX];
    if (resolve(folder, path, buffer)) {
        pthread_mutex_lock(&lock);
        unknown("symlink", path);
        pthread_mutex_unlock(&lock);
    }
    return (int)syscall(SYS_symlinkat, target, folder, path);
}
int symlink(const char *target, const char *path) { return symlinkat(target, AT_FDCWD, path); }

/* C streams write through libc's inside, where nothing can be interposed. */
static FILE *(*real_fopen)(const char *, const char *);
extern void *dlsym(void *, const char *);
FILE *fopen(const char *path, const char *mode) {
    char buffer[PATH_MAX];
    if (!real_fopen) *(void **)&real_fopen = dlsym((void *)-1L, "fopen");
    if (strpbrk(mode, "wa+") && resolve(AT_FDCWD, path, buffer)) {
        pthread_mutex_lock(&lock);
        unknown("fopen for writing", path);
        pthread_mutex_unlock(&lock);
    }
    return real_fopen(path, mode);
}
FILE *fopen64(const char *path, const char *mode) TWIN(fopen);
