/** Limits of scripts, each with its reason. A script cannot catch them with `pcall`. */

/** Default work of a script: as long as Redis lets one run before it may be killed. */
export const MAX_SCRIPT_MS = 5_000;
/**
 * Work without interruption, where a script cannot or must not be interrupted: all other work waits. A quarter of a
 * second is noticeable, more is an outage.
 */
export const MAX_HOLD_MS = 250;
/**
 * The uninterrupted work that remains for the next script after one was stopped at MAX_HOLD_MS, so that scripts cannot
 * block all other work again and again.
 */
export const LEFT_HOLD_MS = 5;
/** The share of elapsed time by which that allowance grows: it is MAX_HOLD_MS again after about 25 seconds. */
export const HOLD_COMES_BACK = 0.01;
/** A script that ends within this time is never interrupted. */
export const FIRST_SLICE_MS = 5;
/** After the first pause a run works for this long at a time; other work waits that long each time. */
export const SLICE_MS = 1;
/** Lua instructions of one run: a backstop that needs no clock, about ten seconds of the cheapest instructions. */
export const MAX_INSTRUCTIONS = 2_000_000_000;
/**
 * Instructions between two checks of the clock: one instruction on a value of a few megabytes takes a millisecond or
 * two.
 */
export const INSTRUCTIONS_A_LOOK = 100;
/** As above for a large heap, because one instruction may copy tens of megabytes then. */
export const INSTRUCTIONS_A_LOOK_WHEN_LARGE = 10;
/** A larger heap may hold values that take many milliseconds to process. */
export const LARGE_HEAP_BYTES = 24 * 1024 * 1024;
/** Bytes of one machine including its stacks and data; several machines may exist. */
export const MAX_HEAP_BYTES = 64 * 1024 * 1024;
/** A heap grows by at least this share of its size, because V8's accounting makes each growth expensive. */
export const GROWN_AHEAD = 0.25;
/** WebAssembly memory never shrinks: a machine that grew beyond this is discarded after the run. */
export const KEPT_HEAP_BYTES = 24 * 1024 * 1024;
/** Machines per process; the least recently used is discarded. An unused one takes about a megabyte. */
export const MAX_MACHINES = 64;

/** Cached scripts per partition; if one is missing, clients send EVAL again. */
export const MAX_CACHED_SCRIPTS = 5_000;
export const MAX_CACHED_SCRIPT_BYTES = 16 * 1024 * 1024;
/** Scripts kept compiled; others are compiled when they are called. */
export const MAX_COMPILED_SCRIPTS = 1_000;

/** Values on the stack of one call of a C function: Lua's own bound. */
export const MAX_CALL_VALUES = 8000;
/** Nesting of a script's reply. Redis is limited by its Lua stack; a client's parser may be recursive. */
export const MAX_REPLY_DEPTH = 500;
/** Items of a reply, and values that a serializer writes: a table that contains itself twice would grow without end. */
export const MAX_ITEMS = 1_000_000;
/**
 * Bytes of a reply, of the arguments of a command, and of a serializer's output; a string counts each time it occurs.
 */
export const MAX_COPIED_BYTES = 100 * 1024 * 1024;

/** A longer string is copied into or out of the machine in slices. */
export const LONG_STRING_BYTES = 1024 * 1024;

/** Steps of a pattern match between two checks of the clock: about 0.1 ms. */
export const MATCH_STEPS_A_LOOK = 10_000;
/** Nested repetitions and captures of a pattern match, which is recursive. */
export const MAX_MATCH_DEPTH = 1_000;

/** Libraries are part of every snapshot and are loaded again with every new machine. */
export const MAX_LIBRARIES = 1_000;
export const MAX_LIBRARY_BYTES = 1024 * 1024;
/**
 * Bytes of all libraries of a database: they stay in memory, and a machine that runs their functions compiles all of
 * them.
 */
export const MAX_LIBRARIES_BYTES = 64 * 1024 * 1024;
