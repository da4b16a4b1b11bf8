/**
 * Patterns of GLOB: `*` any run, `?` one character, `[abc]`, `[a-z]`, `[^…]`; `]` as the first of a class is one of
 * its characters. Characters are code points; the whole value must match, with upper and lower case different.
 *
 *  FG1 a match takes at most (characters of the pattern) × (characters of the value) steps: only the last `*` is ever
 *      backtracked to
 */

type GlobPart = '*' | '?' | { readonly character: string } | CharacterClass;

interface CharacterClass {
  readonly isNegated: boolean;
  /** Both ends inclusive. */
  readonly ranges: readonly (readonly [number, number])[];
}

interface FilterGlob {
  /** The reason why the pattern is invalid; it then matches no value. */
  readonly problem: string | undefined;
  matches(value: string): boolean;
}

export function compileFilterGlob(pattern: string): FilterGlob {
  const characters = [...pattern];
  const parts: GlobPart[] = [];
  for (let at = 0; at < characters.length; ) {
    const character = characters[at] as string;
    if (character === '[') {
      const read = characterClass(characters, at + 1);
      if (read === undefined) return { problem: 'a class of a pattern is not closed', matches: () => false };
      parts.push(read.part);
      at = read.next;
      continue;
    }
    at += 1;
    if (character === '*' && parts.at(-1) === '*') continue;
    parts.push(character === '*' || character === '?' ? character : { character });
  }
  return { problem: undefined, matches: (value) => matchesParts(parts, [...value]) };
}

function characterClass(
  characters: readonly string[],
  from: number,
): { readonly part: CharacterClass; readonly next: number } | undefined {
  const isNegated = characters[from] === '^';
  const first = isNegated ? from + 1 : from;
  const ranges: [number, number][] = [];
  for (let at = first; at < characters.length; ) {
    const character = characters[at] as string;
    if (character === ']' && at > first) return { part: { isNegated, ranges }, next: at + 1 };
    const end = characters[at + 2];
    const isRange = characters[at + 1] === '-' && end !== undefined && end !== ']';
    ranges.push([codeOf(character), codeOf(isRange ? end : character)]);
    at += isRange ? 3 : 1;
  }
  return undefined;
}

function matchesParts(parts: readonly GlobPart[], characters: readonly string[]): boolean {
  let part = 0;
  let at = 0;
  let starPart = -1;
  let starAt = 0;
  while (at < characters.length) {
    const wanted = parts[part];
    if (wanted === '*') {
      starPart = part;
      starAt = at;
      part += 1;
    } else if (wanted !== undefined && fits(wanted, characters[at] as string)) {
      part += 1;
      at += 1;
    } else if (starPart >= 0) {
      starAt += 1;
      at = starAt;
      part = starPart + 1;
    } else {
      return false;
    }
  }
  while (parts[part] === '*') part += 1;
  return part === parts.length;
}

function fits(part: Exclude<GlobPart, '*'>, character: string): boolean {
  if (part === '?') return true;
  if ('character' in part) return part.character === character;
  const code = codeOf(character);
  return part.ranges.some(([from, to]) => from <= code && code <= to) !== part.isNegated;
}

function codeOf(character: string): number {
  return character.codePointAt(0) as number;
}
