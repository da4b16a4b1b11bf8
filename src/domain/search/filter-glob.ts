/**
 * Patterns of GLOB: `*` any run, `?` one character, `[abc]`, `[a-z]`, `[^…]`; `]` as the first of a class is one of
 * its characters. Characters are code points; the whole value must match, with upper and lower case different.
 *
 *  FG1 a match takes at most (characters of the pattern) × (characters of the value) steps: only the last `*` is ever
 *      backtracked to
 */

/** A code point, or one of the two below; a class has its place in the list of classes below those. */
type GlobPart = number;
const ANY_RUN = -1;
const ANY_CHARACTER = -2;
const FIRST_CLASS = -3;

interface CharacterClass {
  readonly isNegated: boolean;
  /** Both ends inclusive. */
  readonly ranges: readonly (readonly [number, number])[];
}

interface FilterGlob {
  /** The reason why the pattern is invalid; it then matches no value. */
  readonly problem: string | undefined;
  /** @param meter counts the steps */
  matches(value: string, meter?: FilterMeter): boolean;
}

/** Counts the steps of evaluating a filter, so that its runner can pause. */
export class FilterMeter {
  /** Since the last pause. */
  steps = 0;

  /** Whether about a millisecond has passed since the last pause; the caller then pauses. */
  isPauseDue(): boolean {
    if (this.steps < SLICE_STEPS) return false;
    this.steps = 0;
    return true;
  }
}

/** Compared characters, or a fiftieth of as many conditions, between two pauses. */
const SLICE_STEPS = 250_000;

export function compileFilterGlob(pattern: string): FilterGlob {
  const characters = [...pattern];
  const parts: GlobPart[] = [];
  const classes: CharacterClass[] = [];
  for (let at = 0; at < characters.length; ) {
    const character = characters[at] as string;
    if (character === '[') {
      const read = characterClass(characters, at + 1);
      if (read === undefined) return { problem: 'a class of a pattern is not closed', matches: () => false };
      parts.push(FIRST_CLASS - classes.length);
      classes.push(read.part);
      at = read.next;
      continue;
    }
    at += 1;
    if (character === '*' && parts.at(-1) === ANY_RUN) continue;
    parts.push(character === '*' ? ANY_RUN : character === '?' ? ANY_CHARACTER : codeOf(character));
  }
  return { problem: undefined, matches: (value, meter) => matchesParts({ parts, classes }, codesOf(value), meter) };
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

interface CompiledGlob {
  readonly parts: readonly GlobPart[];
  readonly classes: readonly CharacterClass[];
}

function matchesParts({ parts, classes }: CompiledGlob, codes: Uint32Array, meter: FilterMeter | undefined): boolean {
  let part = 0;
  let at = 0;
  let starPart = -1;
  let starAt = 0;
  let steps = codes.length;
  for (; at < codes.length; steps += 1) {
    const wanted = parts[part];
    if (wanted === ANY_RUN) {
      starPart = part;
      starAt = at;
      part += 1;
    } else if (
      wanted !== undefined &&
      (wanted === codes[at] || (wanted < 0 && fits(wanted, classes, codes[at] as number)))
    ) {
      part += 1;
      at += 1;
    } else if (starPart >= 0) {
      starAt += 1;
      at = starAt;
      part = starPart + 1;
    } else {
      break;
    }
  }
  if (meter !== undefined) meter.steps += steps;
  if (at < codes.length) return false;
  while (parts[part] === ANY_RUN) part += 1;
  return part === parts.length;
}

function fits(part: GlobPart, classes: readonly CharacterClass[], code: number): boolean {
  if (part === ANY_CHARACTER) return true;
  const { ranges, isNegated } = classes[FIRST_CLASS - part] as CharacterClass;
  return ranges.some(([from, to]) => from <= code && code <= to) !== isNegated;
}

/** The code points of a text. */
function codesOf(value: string): Uint32Array {
  const codes = new Uint32Array(value.length);
  let length = 0;
  for (let at = 0; at < value.length; at += 1) {
    const code = value.codePointAt(at) as number;
    if (code > 0xffff) at += 1;
    codes[length] = code;
    length += 1;
  }
  return codes.subarray(0, length);
}

function codeOf(character: string): number {
  return character.codePointAt(0) as number;
}
