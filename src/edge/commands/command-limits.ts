/** Bounds of commands that no face has by itself. What a database's plan bounds is in its grant. */

/** The longest key over REST. It is part of the interface, hence not a setting. */
export const MAX_REST_KEY_BYTES = 32 * 1024;

/** Commands that are asked for at a time behind the first portion: what does not fit is sent to its owner again. */
export const COMMANDS_OF_LATER_PORTIONS = 1_000;
