/**
 * Finds the places of a document that a path matches, in slices.
 *
 * Invariants
 *
 *  JM1 a place is found once, even if parts of the path overlap
 *  JM2 places below a place are found before it (a recursive step takes the deepest first), so changes made in the
 *      order of the matches never move or remove a later match, except within one array
 *  JM3 the work is at most the size of the document per step of the path; visits by filters are additional and limited
 *      (MAX_FILTER_VISITS)
 */

import type { ByteString } from '../../../../kernel/index.js';
import { ErrorReply } from '../../reply.js';
import type { Steps } from '../../steps.js';
import { type FilterScope, passes } from './json-filter.js';
import { MAX_FILTER_VISITS } from './json-limits.js';
import type { PathSegment, PathSelector } from './json-path-parser.js';
import { isContainer, type JsonContainer, type JsonValue, lengthOfJson, ValuePace } from './json-value.js';

/** The position of a value; valid until its array is changed. */
export interface JsonPlace {
  readonly value: JsonValue;
  /** Undefined for the root. */
  readonly parent: JsonPlace | undefined;
  /** Name or index in the parent's value. */
  readonly token: ByteString | number;
}

function rootPlace(value: JsonValue): JsonPlace {
  return { value, parent: undefined, token: '' };
}

/** The path that matches only this place, in bracket notation. */
export function pathOf(place: JsonPlace): ByteString {
  const tokens: ByteString[] = [];
  for (let at = place; at.parent !== undefined; at = at.parent) tokens.push(tokenText(at.token));
  return `$${tokens.reverse().join('')}`;
}

/** One step of such a path. As paths require, only quotes and backslashes are escaped. */
export function tokenText(token: ByteString | number): ByteString {
  return typeof token === 'number' ? `[${token}]` : `["${token.replace(/["\\]/g, '\\$&')}"]`;
}

/** The place's distance from the root in steps. */
export function levelOf(place: JsonPlace): number {
  let level = 0;
  for (let at = place; at.parent !== undefined; at = at.parent) level += 1;
  return level;
}

/** The places that are not below another of the places. */
export function* outermost(places: readonly JsonPlace[]): Steps<readonly JsonPlace[]> {
  if (places.length < 2) return places;
  const containers = new Set<JsonValue>();
  const pace = new ValuePace();
  for (const { value } of places) {
    if (isContainer(value)) containers.add(value);
    if (pace.isDue()) yield;
  }
  if (containers.size === 0) return places;
  const outer: JsonPlace[] = [];
  for (const place of places) {
    if (!isWithin(place, containers)) outer.push(place);
    if (pace.isDue()) yield;
  }
  return outer;
}

function isWithin({ parent }: JsonPlace, containers: ReadonlySet<JsonValue>): boolean {
  for (let above = parent; above !== undefined; above = above.parent) if (containers.has(above.value)) return true;
  return false;
}

export function* matchesOf(root: JsonValue, segments: readonly PathSegment[]): Steps<JsonPlace[]> {
  return yield* new Evaluation(root).run([rootPlace(root)], segments);
}

const tooMuchToFilter = new ErrorReply('ERR the filters of the path look at too many values');

class Evaluation implements FilterScope {
  readonly #pace = new ValuePace();
  readonly #fromRoot = new Map<readonly PathSegment[], readonly JsonValue[]>();

  /** The current depth of nested filters. */
  #nesting = 0;
  #visits = 0;

  constructor(readonly root: JsonValue) {}

  *run(from: JsonPlace[], segments: readonly PathSegment[]): Steps<JsonPlace[]> {
    let places = from;
    for (const { isRecursive, selectors } of segments) {
      if (places.length === 0) return places;
      const next: JsonPlace[] = [];
      const isDirect = selectors.every(({ kind }) => kind === 'name' || kind === 'index');
      if (isRecursive) {
        yield* this.#descend(places, selectors, isDirect, next);
      } else {
        for (const place of places) {
          if (isDirect) selectDirectly(place, selectors, next);
          else yield* this.#select(place, selectors, next);
          if (this.#isSliceOver()) yield;
        }
      }
      places = next;
    }
    return places;
  }

  *from(candidate: JsonValue, segments: readonly PathSegment[]): Steps<readonly JsonValue[]> {
    this.#nesting += 1;
    const places = yield* this.run([rootPlace(candidate)], segments);
    this.#nesting -= 1;
    return places.map(({ value }) => value);
  }

  *fromRoot(segments: readonly PathSegment[]): Steps<readonly JsonValue[]> {
    const known = this.#fromRoot.get(segments);
    if (known !== undefined) return known;
    const found = yield* this.from(this.root, segments);
    this.#fromRoot.set(segments, found);
    return found;
  }

  /** Counts visited values; returns whether a pause is due. @throws tooMuchToFilter */
  #isSliceOver(met = 1): boolean {
    if (this.#nesting > 0) {
      this.#visits += met;
      if (this.#visits > MAX_FILTER_VISITS) throw tooMuchToFilter;
    }
    return this.#pace.isDue(met);
  }

  /**
   * Visits all containers below the places before the places themselves (JM2: places below a place are found before
   * it); a container shared by several places is visited once (JM1: a place is found once).
   */
  *#descend(
    places: readonly JsonPlace[],
    selectors: readonly PathSelector[],
    isDirect: boolean,
    into: JsonPlace[],
  ): Steps<void> {
    const seen = places.length > 1 ? new Set<JsonContainer>() : undefined;
    for (const start of places) {
      const open: { place: JsonPlace; children: Iterator<JsonPlace> }[] = [];
      const begin = (place: JsonPlace): void => {
        if (!isContainer(place.value) || seen?.has(place.value)) return;
        seen?.add(place.value);
        open.push({ place, children: childrenOf(place, place.value) });
      };
      begin(start);
      for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
        const { done, value: child } = top.children.next();
        if (done !== true) {
          begin(child);
          if (this.#pace.isDue()) yield;
          continue;
        }
        open.pop();
        if (isDirect) selectDirectly(top.place, selectors, into);
        else yield* this.#select(top.place, selectors, into);
        if (this.#isSliceOver(1 + lengthOfJson(top.place.value as JsonContainer))) yield;
      }
    }
  }

  *#select(place: JsonPlace, selectors: readonly PathSelector[], into: JsonPlace[]): Steps<void> {
    const { value } = place;
    if (!isContainer(value)) return;
    const take = taker(place, selectors, into);
    for (const selector of selectors) {
      switch (selector.kind) {
        case 'name':
        case 'index':
          takeDirectly(selector, value, take);
          break;
        case 'slice': {
          if (!Array.isArray(value)) break;
          const from = bounded(selector.from ?? 0, value.length);
          const to = bounded(selector.to ?? value.length, value.length);
          for (let index = from; index < to; index += selector.step) take(index, value[index]);
          break;
        }
        default:
          for (const [token, child] of value.entries()) {
            if (selector.kind === 'all' || (yield* passes(selector.filter, child, this))) take(token, child);
            if (this.#isSliceOver()) yield;
          }
      }
    }
  }
}

function selectDirectly(place: JsonPlace, selectors: readonly PathSelector[], into: JsonPlace[]): void {
  const { value } = place;
  if (!isContainer(value)) return;
  const take = taker(place, selectors, into);
  for (const selector of selectors) takeDirectly(selector, value, take);
}

/** Takes each child of the place once, even if several selectors match it (JM1: a place is found once). */
function taker(place: JsonPlace, selectors: readonly PathSelector[], into: JsonPlace[]): Take {
  const taken = selectors.length > 1 ? new Set<ByteString | number>() : undefined;
  return (token, child) => {
    if (child === undefined || taken?.has(token)) return;
    taken?.add(token);
    into.push({ value: child, parent: place, token });
  };
}

function takeDirectly(selector: PathSelector, value: JsonContainer, take: Take): void {
  if (selector.kind === 'name') {
    if (value instanceof Map) take(selector.name, value.get(selector.name));
  } else if (selector.kind === 'index' && Array.isArray(value)) {
    const index = selector.index < 0 ? value.length + selector.index : selector.index;
    take(index, value[index]);
  }
}

type Take = (token: ByteString | number, child: JsonValue | undefined) => void;

function bounded(index: number, length: number): number {
  return index < 0 ? Math.max(0, length + index) : Math.min(index, length);
}

/** The places of the containers in a container; scalars have no places below them. */
function* childrenOf(place: JsonPlace, value: JsonContainer): IterableIterator<JsonPlace> {
  for (const [token, child] of value.entries()) {
    if (isContainer(child)) yield { value: child, parent: place, token };
  }
}
