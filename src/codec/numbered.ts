/** The members of a union, where the number of each stands in a table that says more of it: that of commands or events. */

/** @param rows say the number of each member */
export function numbered<Shapes extends object>(
  shapes: Shapes,
  rows: { readonly [Word in keyof Shapes]: { readonly number: number } },
): { readonly [Word in keyof Shapes]: readonly [number, Shapes[Word]] } {
  const words = Object.keys(shapes) as (keyof Shapes)[];
  const cases = words.map((word) => [word, [rows[word].number, shapes[word]]]);
  return Object.fromEntries(cases);
}
