/**
 * The headers that a message carries to its destination, gathered from a call: canonical names, each checked. A name
 * that is given replaces what the base has under it; given more than once it is sent more than once.
 */
import type { HeaderList } from '../records.js';
import {
  canonicalHeaderName,
  headerListProblem,
  isLeftOutOfForwarding,
  isUnfitForForwarding,
  outgoingHeaderProblem,
} from './header-names.js';

/** Names in problems are repeated in part only. */
const SHOWN_CHARACTERS = 100;

export class ForwardedHeader {
  readonly #base: HeaderList;
  readonly #added: [name: string, value: string][] = [];
  #problem: string | undefined;

  /** @param isLenient what cannot be forwarded is left out, not refused */
  constructor(
    base: HeaderList,
    private readonly isLenient = false,
  ) {
    this.#base = base;
  }

  /** A header that goes under its own name. */
  set(name: string, value: string): void {
    this.add('', name, value);
  }

  /** @param prefix what stood before the name, for the text of a problem. @param name in lower case */
  add(prefix: string, name: string, value: string): void {
    if (this.isLenient && isUnfitForForwarding(name, value)) return;
    const problem = outgoingHeaderProblem(name, value);
    if (problem !== undefined) this.#problem ??= `${prefix}${name.slice(0, SHOWN_CHARACTERS)}: ${problem}`;
    else this.#added.push([canonicalHeaderName(name), value]);
  }

  /** All of a call's headers, but those that are about the call itself and those that were given by name. */
  addAll(others: HeaderList): void {
    const given = new Set(this.#added.map(([name]) => name));
    const ofTheHop = hopNames(others);
    for (const [name, value] of others) {
      if (isLeftOutOfForwarding(name) || ofTheHop.has(name) || given.has(canonicalHeaderName(name))) continue;
      this.set(name, value);
    }
  }

  /** The whole, and what is wrong with it. */
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

/** What `Connection` says is between the caller and us only. */
function hopNames(others: HeaderList): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [name, value] of others) {
    if (name !== 'connection') continue;
    for (const part of value.split(',')) names.add(part.trim().toLowerCase());
  }
  return names;
}
