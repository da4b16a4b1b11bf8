/**
 * Lists of which there are many and most stay short: without the room that an array takes in advance, sixteen places
 * and a half of what it has.
 */

/** What is longer grows as arrays do: a copy for each item would take long. */
const SHORT = 16;

/** @returns the list without the item; as it is where it has none */
export function without<T>(list: readonly T[], item: T): readonly T[] {
  const at = list.indexOf(item);
  return at === -1 ? list : list.slice(0, at).concat(list.slice(at + 1));
}

/** @returns the list with the item, to be kept in its place */
export function appended<T>(list: T[], item: T): T[] {
  if (list.length < SHORT) return list.concat([item]);
  list.push(item);
  return list;
}
