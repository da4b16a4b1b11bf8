/**
 * Records of one length as bytes outside of the heap, in pages: a collection of garbage does not look at them, and
 * nothing is ever moved. A slot is a page's number and a place in it. Who frees a slot may get it again next.
 */

/**
 * Few enough that a page is made at once; so many that the allocator takes it from the system and gives it back; a small
 * power of two, so that slots are split fast.
 */
const PLACE_BITS = 11;
const PAGE_PLACES = 1 << PLACE_BITS;
/** The first page begins as small as this: most accounts have little to keep. */
const FIRST_PLACES = 16;

/** One of the pages. Its records lie behind each other in all views. */
export class RecordPage {
  words: Uint32Array;
  doubles: Float64Array;
  bytes: Uint8Array;
  used = 0;
  /** Places from here on were never used. */
  end = 0;
  /** The first place that was freed, by one more; its first word says the next one. */
  free = 0;
  /** It is among those that have room. */
  isListed = false;

  constructor(
    places: number,
    readonly recordBytes: number,
  ) {
    const bytes = new ArrayBuffer(places * recordBytes);
    this.words = new Uint32Array(bytes);
    this.doubles = new Float64Array(bytes);
    this.bytes = new Uint8Array(bytes);
  }

  get places(): number {
    return this.words.byteLength / this.recordBytes;
  }

  /** From now on it has so many places, those that it had as they were. */
  resize(places: number): void {
    const { words } = this;
    const bytes = new ArrayBuffer(places * this.recordBytes);
    this.words = new Uint32Array(bytes);
    this.doubles = new Float64Array(bytes);
    this.bytes = new Uint8Array(bytes);
    this.words.set(words.subarray(0, Math.min(words.length, this.words.length)));
  }
}

export class RecordPages {
  readonly #pages: RecordPage[] = [];
  /** Pages with a free place: the one that is used next comes last. */
  readonly #withRoom: number[] = [];
  #size = 0;

  /** @param recordBytes a multiple of eight */
  constructor(private readonly recordBytes: number) {}

  get size(): number {
    return this.#size;
  }

  pageOf(slot: number): RecordPage {
    return this.#pages[slot >>> PLACE_BITS] as RecordPage;
  }

  /** Its first word, in `words`. */
  wordOf(slot: number): number {
    return (slot & (PAGE_PLACES - 1)) * (this.recordBytes / 4);
  }

  /** Its first number, in `doubles`. */
  doubleOf(slot: number): number {
    return (slot & (PAGE_PLACES - 1)) * (this.recordBytes / 8);
  }

  take(): number {
    const number = this.#withRoom.at(-1) ?? this.#addPage();
    const page = this.#pages[number] as RecordPage;
    const first = number << PLACE_BITS;
    if (page.places === 0 || (page.free === 0 && page.end === page.places)) page.resize(grownPlaces(number, page));
    const place = page.free === 0 ? page.end : page.free - 1;
    if (page.free === 0) page.end += 1;
    else page.free = page.words[this.wordOf(place)] as number;
    page.used += 1;
    this.#size += 1;
    if (page.free === 0 && page.end === PAGE_PLACES) {
      this.#withRoom.pop();
      page.isListed = false;
    }
    return first + place;
  }

  release(slot: number): void {
    const page = this.pageOf(slot);
    page.used -= 1;
    this.#size -= 1;
    if (!page.isListed) {
      page.isListed = true;
      this.#withRoom.push(slot >>> PLACE_BITS);
    }
    if (page.used === 0) {
      page.resize(0);
      page.free = 0;
      page.end = 0;
      return;
    }
    const at = this.wordOf(slot);
    page.words.fill(0, at, at + this.recordBytes / 4);
    page.words[at] = page.free;
    page.free = (slot & (PAGE_PLACES - 1)) + 1;
  }

  /** Slots that were taken at some time, in order; those that are free among them. */
  *slots(): Iterable<number> {
    for (let number = 0; number < this.#pages.length; number += 1) {
      const page = this.#pages[number] as RecordPage;
      for (let place = 0; place < page.end; place += 1) yield (number << PLACE_BITS) + place;
    }
  }

  #addPage(): number {
    const page = new RecordPage(0, this.recordBytes);
    page.isListed = true;
    this.#withRoom.push(this.#pages.push(page) - 1);
    return this.#pages.length - 1;
  }
}

function grownPlaces(number: number, { places }: RecordPage): number {
  if (number > 0) return PAGE_PLACES;
  return Math.max(FIRST_PLACES, Math.min(PAGE_PLACES, 2 * places));
}
