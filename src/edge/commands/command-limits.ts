/** Limits of commands that endpoints share. The limits of a database's plan are in its grant. */

/** The longest key over REST. It is part of the interface, therefore not a setting. */
export const MAX_REST_KEY_BYTES = 32 * 1024;

/** Commands per request after the first portion. Commands whose replies do not fit are sent to the owner again. */
export const COMMANDS_OF_LATER_PORTIONS = 1_000;
