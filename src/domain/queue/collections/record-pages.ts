/**
 * Records of one length outside the JavaScript heap, in pages: the garbage collector does not scan them, and none
 * moves. A slot is the number of a page and a place in it. A released slot may be reused by the next `take`.
 */

/**
 * Small enough to allocate a page quickly, large enough that the allocator takes it from the operating system and
 * returns it, and a power of two, so that a slot splits with shifts.
 */
const PLACE_BITS = 11;
const PAGE_PLACES = 1 << PLACE_BITS;
/** The first page starts this small: most accounts store few records. */
const FIRST_PLACES = 16;

/** One page. All three views show the same bytes. */
export class RecordPage {
  words: Uint32Array;
  doubles: Float64Array;
  bytes: Uint8Array;
  used = 0;
  /** Places from here on were never used. */
  end = 0;
  /** The first released place plus one; its first word names the next one. */
  free = 0;
  /** Whether the page is in the list of pages with room. */
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

  /** Changes the number of places; existing records are kept. */
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
  /** Pages with a free place; the last one is used next. */
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

  /** Index of the slot's first word in `words`. */
  wordOf(slot: number): number {
    return (slot & (PAGE_PLACES - 1)) * (this.recordBytes / 4);
  }

  /** Index of the slot's first number in `doubles`. */
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

  /** All slots that were ever taken, in order, released ones included. */
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
