// The checks of a kernel's accesses to memory: part of run.cpp, within its name space, after its state.

// Who accessed a word, and how far the cube's and the plane's barriers had come.
struct Access {
    uint32_t cube;
    uint32_t cube_order;
    uint32_t plane_order;
    uint16_t unit;
    uint16_t bytes;
};

struct Word {
    Access write;
    Access read;
};

// Memory that the kernel may use.
struct Region {
    char* begin;
    char* end;
    Word* words;
    bool shared;
    char name[24];
};

Region* regions;
uint32_t region_count;
uint32_t recent;

void add_region(void* begin, uint64_t bytes, bool shared, const char* name, uint32_t number) {
    if (bytes == 0)
        return;
    Region& region = regions[region_count++];
    region.begin = (char*)begin;
    region.end = region.begin + bytes;
    region.words = (Word*)calloc((bytes + 3) / 4, sizeof(Word));
    region.shared = shared;
    if (shared)
        snprintf(region.name, sizeof region.name, "%s", name);
    else
        snprintf(region.name, sizeof region.name, "%s %u", name, number);
}

Access now(const Region& region, uint16_t bytes) {
    return {cube, region.shared ? shared_order : device_order, fibres[running].plane_order,
            (uint16_t)running, bytes};
}

bool overlaps(const Region& region, const Access& before, const Access& after) {
    if (before.cube == 0 || (before.bytes & after.bytes) == 0)
        return false;
    if (before.cube != after.cube)
        return !region.shared;
    if (before.unit == after.unit || before.cube_order < after.cube_order)
        return false;
    bool same_plane = before.unit != MANY && plane_of(before.unit) == plane_of(after.unit);
    return !same_plane || before.plane_order >= after.plane_order;
}

void race(const Region& region, const char* address, const Access& before, const char* did, const char* does) {
    char who[48] = "several units";
    if (before.cube != cube)
        snprintf(who, sizeof who, "another cube");
    else if (before.unit < IN_PLANE)
        snprintf(who, sizeof who, "unit %u", before.unit);
    describe("data race on %s at byte %lld: unit %u of cube %u %s what %s %s, and no barrier for this memory "
             "stands between",
             region.name, (long long)(address - region.begin), running, cube - 1, does, who, did);
    abandon();
}

void note_read(const Region& region, Access& read, const Access& after) {
    if (read.cube != after.cube) {
        bool other_cube = !region.shared && read.cube != 0;
        read = after;
        if (other_cube)
            read.cube = ~0u;
        return;
    }
    bool same_plane = read.unit != MANY && plane_of(read.unit) == plane_of(after.unit);
    if (read.cube_order < after.cube_order || (same_plane && read.plane_order < after.plane_order)) {
        read = after;
        return;
    }
    if (read.unit != after.unit)
        read.unit = same_plane ? (uint16_t)(IN_PLANE | plane_of(after.unit)) : (uint16_t)MANY;
    read.bytes |= after.bytes;
}

void note_write(Access& write, const Access& after) {
    uint16_t bytes = after.bytes;
    if (write.cube == after.cube && write.unit == after.unit && write.cube_order == after.cube_order)
        bytes |= write.bytes;
    write = after;
    write.bytes = bytes;
}

// Units may write one value to one place. Whether they do shows after the write.
struct Contested {
    const Region* region;
    char* address;
    uint64_t size;
    unsigned char bytes[16];
    Access before;
};
Contested contested;

void expect_same(const Region& region, char* address, uint64_t size, const Access& before) {
    if (size > sizeof contested.bytes)
        race(region, address, before, "wrote", "writes");
    contested = Contested{&region, address, size, {}, before};
    memcpy(contested.bytes, address, size);
}

// To be called before the unit that wrote does anything else.
void settle_contested() {
    if (!contested.region)
        return;
    Contested write = contested;
    contested.region = nullptr;
    if (memcmp(write.bytes, write.address, write.size) != 0)
        race(*write.region, write.address, write.before, "wrote with another value", "writes");
}

void check_words(Region& region, char* address, uint64_t size, bool writes) {
    uint64_t first = (uint64_t)(address - region.begin);
    for (uint64_t byte = first; byte < first + size;) {
        Word& word = region.words[byte / 4];
        uint16_t mask = 0;
        do {
            mask |= (uint16_t)(1u << (byte % 4));
            ++byte;
        } while (byte % 4 != 0 && byte < first + size);
        Access access = now(region, mask);
        bool contested = overlaps(region, word.write, access);
        if (!writes) {
            if (contested)
                race(region, address, word.write, "wrote", "reads");
            note_read(region, word.read, access);
            continue;
        }
        if (contested)
            expect_same(region, address, size, word.write);
        if (overlaps(region, word.read, access))
            race(region, address, word.read, "read", "writes");
        note_write(word.write, access);
    }
}

void outside(char* address, uint64_t size, bool writes) {
    const Region* nearest = nullptr;
    uint64_t distance = ~0ull;
    for (uint32_t i = 0; i < region_count; ++i) {
        uint64_t from = address < regions[i].begin ? regions[i].begin - address
                        : address >= regions[i].end ? address - regions[i].end
                                                    : 0;
        if (from < distance) {
            distance = from;
            nearest = &regions[i];
        }
    }
    if (nearest)
        describe("out of bounds: unit %u of cube %u %s %llu bytes at byte %lld of %s, which has %lld bytes",
                 running, cube - 1, writes ? "writes" : "reads", (unsigned long long)size,
                 (long long)(address - nearest->begin), nearest->name,
                 (long long)(nearest->end - nearest->begin));
    else
        describe("out of bounds: unit %u of cube %u accesses memory, and there is no buffer", running, cube - 1);
    abandon();
}

bool within(const char* address, const void* begin, uint64_t bytes) {
    return address >= (const char*)begin && address < (const char*)begin + bytes;
}

void access(void* pointer, uint64_t size, bool writes) {
    char* address = (char*)pointer;
    settle_contested();
    if (within(address, &ssb_position, sizeof ssb_position))
        return;
    for (uint32_t tried = 0; tried < region_count; ++tried) {
        Region& region = regions[recent];
        if (address >= region.begin && address + size <= region.end) {
            check_words(region, address, size, writes);
            return;
        }
        recent = recent + 1 < region_count ? recent + 1 : 0;
    }
    if (within(address, stacks, (uint64_t)units * STACK_BYTES))
        return;
    Dl_info image;
    // Constants of the text are part of the loaded object.
    if (!writes && !within(address, dynamic_shared_mem, sizeof dynamic_shared_mem) && dladdr(address, &image))
        return;
    outside(address, size, writes);
}
