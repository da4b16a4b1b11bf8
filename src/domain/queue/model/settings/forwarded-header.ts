/**
 * Collects the headers that a message forwards: canonical names, each checked. A given name replaces all headers of
 * that name in the base; given several times, it is sent several times.
 */
import type { HeaderList } from '../records.js';
import {
  canonicalHeaderName,
  headerListProblem,
  isLeftOutOfForwarding,
  isUnfitForForwarding,
  outgoingHeaderProblem,
} from './header-names.js';

/** An error repeats at most this much of a name. */
const SHOWN_CHARACTERS = 100;

export class ForwardedHeader {
  readonly #base: HeaderList;
  readonly #added: [name: string, value: string][] = [];
  #problem: string | undefined;

  /** @param isLenient leaves out headers that cannot be forwarded instead of refusing them */
  constructor(
    base: HeaderList,
    private readonly isLenient = false,
  ) {
    this.#base = base;
  }

  /** Adds a header under its own name. */
  set(name: string, value: string): void {
    this.add('', name, value);
  }

  /**
   * @param prefix the part before the name, for the error text
   * @param name in lower case
   */
  add(prefix: string, name: string, value: string): void {
    if (this.isLenient && isUnfitForForwarding(name, value)) return;
    const problem = outgoingHeaderProblem(name, value);
    if (problem !== undefined) this.#problem ??= `${prefix}${name.slice(0, SHOWN_CHARACTERS)}: ${problem}`;
    else this.#added.push([canonicalHeaderName(name), value]);
  }

  /** Adds all headers of a call, except those about the call itself and those already given by name. */
  addAll(others: HeaderList): void {
    const given = new Set(this.#added.map(([name]) => name));
    const ofTheHop = hopNames(others);
    for (const [name, value] of others) {
      if (isLeftOutOfForwarding(name) || ofTheHop.has(name) || given.has(canonicalHeaderName(name))) continue;
      this.set(name, value);
    }
  }

  /** The list, and its problem. */
  finish(): { readonly header: HeaderList; readonly problem: string | undefined } {
    const header = this.#list();
    return { header, problem: this.#problem ?? headerListProblem(header) };
  }

  #list(): HeaderList {
    if (this.#base.length === 0) return this.#added;
    const replaced = new Set(this.#added.map(([name]) => name));
    return [...this.#base.filter(([name]) => !replaced.has(name)), ...this.#added];
  }
}

/** Headers named in `Connection` concern only the connection of the caller. */
function hopNames(others: HeaderList): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [name, value] of others) {
    if (name !== 'connection') continue;
    for (const part of value.split(',')) names.add(part.trim().toLowerCase());
  }
  return names;
}
