/**
 * A path as a client writes it, compiled: JSONPath (`$…`), or the older notation without the `$`, which
 * means the first match and answers it bare. Compiled paths are remembered, at most so many.
 */
import type { ByteString } from '../../../../kernel/index.js';
import { MAX_CACHED_PATH_BYTES, MAX_CACHED_PATHS } from './json-limits.js';
import { parsePath, staticSteps } from './json-path-parser.js';
import type { JsonPattern } from './json-pattern.js';
import type { JsonValue } from './json-value.js';

export type PathSelector =
  | { readonly kind: 'name'; readonly name: ByteString }
  | { readonly kind: 'index'; readonly index: number }
  | {
      readonly kind: 'slice';
      readonly from: number | undefined;
      readonly to: number | undefined;
      readonly step: number;
    }
  | { readonly kind: 'all' }
  | { readonly kind: 'filter'; readonly filter: Filter };

/** One step of a path: `selectors` of each value, or of it and all that is below it. */
export interface PathSegment {
  readonly isRecursive: boolean;
  readonly selectors: readonly PathSelector[];
}

export type Filter =
  | { readonly kind: 'or' | 'and'; readonly parts: readonly Filter[] }
  | { readonly kind: 'not'; readonly part: Filter }
  | { readonly kind: 'test'; readonly term: FilterTerm }
  | {
      readonly kind: 'compare';
      readonly left: FilterTerm;
      readonly operator: CompareOperator;
      readonly right: FilterTerm;
    };

export type CompareOperator = '==' | '!=' | '<' | '<=' | '>' | '>=' | '=~';

export type FilterTerm =
  | { readonly kind: 'literal'; readonly value: JsonValue; readonly pattern?: JsonPattern }
  /** `@…`: from the candidate; `$…`: from the root. */
  | {
      readonly kind: 'path';
      readonly isFromRoot: boolean;
      readonly segments: readonly PathSegment[];
      /** What it leads to in one go, where each of its steps is one name or one index. */
      readonly steps: readonly (ByteString | number)[] | undefined;
    };

export interface JsonPath {
  /** It is what was written. */
  readonly text: ByteString;
  /** It has the `$`, as errors show it. */
  readonly full: ByteString;
  readonly isLegacy: boolean;
  readonly segments: readonly PathSegment[];
}

const compiled = new Map<ByteString, JsonPath>();

/** @param isTrusted a path from the journal: of any length @throws ErrorReply */
export function compilePath(text: ByteString, isTrusted = false): JsonPath {
  const known = compiled.get(text);
  if (known !== undefined) return known;
  const isLegacy = !/^\$(?:$|[.[])/.test(text);
  const full = !isLegacy ? text : text === '.' ? '$' : text.startsWith('.') ? `$${text}` : `$.${text}`;
  const path: JsonPath = { text, full, isLegacy, segments: parsePath(full, isTrusted) };
  // Patterns are large when compiled, as paths go.
  if (text.length <= MAX_CACHED_PATH_BYTES && !text.includes('=~')) {
    if (compiled.size >= MAX_CACHED_PATHS) compiled.delete(compiled.keys().next().value as ByteString);
    compiled.set(text, path);
  }
  return path;
}

export function isRoot(path: JsonPath): boolean {
  return path.segments.length === 0;
}

/** The name or index a path ends with, where each of its steps is exactly one. */
export function lastOfStatic(path: JsonPath): ByteString | number | undefined {
  return staticSteps(path.segments)?.at(-1);
}
