/** What a script may use up, each with its reason. None of them can be caught with `pcall`. */

/** Work of a script, where the installation says nothing else: as long as Redis lets one run before it may be killed. */
export const MAX_SCRIPT_MS = 5_000;
/** Work that is not interrupted, where it cannot be or must not: others wait. A quarter of a second is noticed, more is an outage. */
export const MAX_HOLD_MS = 250;
/** What is left of that after a script was ended by it: another may not hold everybody up again at once. */
export const LEFT_HOLD_MS = 5;
/** The share of the passing time that is given back: half a minute gives back all of it. */
export const HOLD_COMES_BACK = 0.01;
/** A script that ends by then is never interrupted. */
export const FIRST_SLICE_MS = 5;
/** After the first pause a run works for so long at a time; others in the process wait that long each time. */
export const SLICE_MS = 1;
/** Lua instructions of one run: a backstop that needs no clock, some ten seconds of the cheapest ones. */
export const MAX_INSTRUCTIONS = 2_000_000_000;
/** The clock is looked at so often: an instruction on a value of a few megabytes takes a millisecond or two. */
export const INSTRUCTIONS_A_LOOK = 100;
/** A grown heap is looked at this often, because one instruction may copy tens of megabytes then. */
export const INSTRUCTIONS_A_LOOK_WHEN_LARGE = 10;
/** A heap above this may hold values whose handling takes many milliseconds. */
export const LARGE_HEAP_BYTES = 24 * 1024 * 1024;
/** Bytes of one machine with its stacks and data; several machines may be alive. */
export const MAX_HEAP_BYTES = 64 * 1024 * 1024;
/** A heap grows by this share of its size at least: V8 accounts for it anew each time, which costs much by pages. */
export const GROWN_AHEAD = 0.25;
/** WebAssembly memory never shrinks: a machine that grew beyond this is dropped after the run. */
export const KEPT_HEAP_BYTES = 24 * 1024 * 1024;
/** Machines of a process; the one that has rested longest goes. Each is about a megabyte when unused. */
export const MAX_MACHINES = 64;

/** Scripts remembered by digest, of one partition; clients send EVAL again when one is gone. */
export const MAX_CACHED_SCRIPTS = 5_000;
export const MAX_CACHED_SCRIPT_BYTES = 16 * 1024 * 1024;
/** Scripts kept compiled; the others are compiled again when they are called. */
export const MAX_COMPILED_SCRIPTS = 1_000;

/** Values that a call of a function of C may have on its stack: Lua's own bound. */
export const MAX_CALL_VALUES = 8000;
/** Nesting of a script's reply. Redis ends at the size of its Lua stack; a client's parser may recurse. */
export const MAX_REPLY_DEPTH = 500;
/** Items of a reply, and values a serializer writes: a table that holds itself twice grows without end. */
export const MAX_ITEMS = 1_000_000;
/** Bytes of a reply, of the arguments of a command, of what a serializer writes: one string counts each time. */
export const MAX_COPIED_BYTES = 100 * 1024 * 1024;

/** Copying a longer string into the machine, or out of it, is work of its own, which is done in slices. */
export const LONG_STRING_BYTES = 1024 * 1024;

/** Steps of a pattern match between two looks at the clock: about a tenth of a millisecond. */
export const MATCH_STEPS_A_LOOK = 10_000;
/** Open repetitions and captures within a pattern match: each is a call within a call. */
export const MAX_MATCH_DEPTH = 1_000;

/** Libraries are part of every snapshot and are loaded again with every new machine. */
export const MAX_LIBRARIES = 1_000;
export const MAX_LIBRARY_BYTES = 1024 * 1024;
