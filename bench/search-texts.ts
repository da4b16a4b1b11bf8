/** Generated texts with the uneven word frequencies of a natural language, and queries for them. */

const SYLLABLES = [
  ...['ba', 'ke', 'lo', 'mi', 'nu', 'ra', 'te', 'shi', 'von', 'dar'],
  ...['gel', 'pri', 'ston', 'er', 'al', 'an', 'qu', 'xe', 'wy', 'zo'],
];
const MADE_WORDS = 60_000;
/** Zipf's law with a flattened head: the commonest word is in nearly every text. */
const HEAD = 2.7;
const PREFIX_SHARE = 0.3;
const MISSPELT_SHARE = 0.2;
const MAX_QUERY_WORDS = 4;
const CUT_FROM = 5;

export class SearchTexts {
  readonly #words: readonly string[];
  readonly #sums: readonly number[];
  #state: number;

  /** @param seed the same texts and queries for the same one */
  constructor(seed: number) {
    this.#state = seed;
    const words = new Set<string>();
    for (let made = 0; made < MADE_WORDS; made += 1) {
      const syllables = 2 + this.#below(3);
      words.add(Array.from({ length: syllables }, () => SYLLABLES[this.#below(SYLLABLES.length)]).join(''));
    }
    this.#words = [...words];
    let sum = 0;
    this.#sums = this.#words.map((_, rank) => {
      sum += 1 / (rank + HEAD);
      return sum;
    });
  }

  text(words: number): string {
    return Array.from({ length: words }, () => this.#word()).join(' ');
  }

  /** One to four words, common and rare; some cut short, some misspelt. */
  query(): string {
    const words = Array.from({ length: 1 + this.#below(MAX_QUERY_WORDS) }, () => this.#word());
    const drawn = this.#float();
    const first = words[0] as string;
    if (drawn < PREFIX_SHARE) words[0] = first.slice(0, -1);
    else if (drawn < PREFIX_SHARE + MISSPELT_SHARE && first.length >= CUT_FROM) {
      words[0] = `${first.slice(0, 2)}${first.slice(3)}`;
    }
    return words.join(' ');
  }

  #word(): string {
    const drawn = this.#float() * (this.#sums.at(-1) as number);
    let low = 0;
    let high = this.#sums.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#sums[middle] as number) < drawn) low = middle + 1;
      else high = middle;
    }
    return this.#words[low] as string;
  }

  #below(bound: number): number {
    return Math.floor(this.#float() * bound);
  }

  #float(): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return this.#state / 2 ** 32;
  }
}
