/** The compiled predicate against a second implementation of the rules, over random filters and documents. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  compileFilter,
  type FilteredDocument,
  type FilterLiteral,
  type FilterNode,
  type FilterPath,
  parseFilter,
} from '../../../src/domain/search/index.js';
import { isMillraceError } from '../../../src/kernel/index.js';
import { repetitions } from '../../support/depth.js';

const NAMES = ['a', 'b', 'c_1', 'constructor'];
const TEXTS = ['', 'x', 'xy', 'yx', '*', 'A-z'];
const literals: fc.Arbitrary<FilterLiteral> = fc.oneof(
  fc.constantFrom<FilterLiteral>(0, 1, -1, 1.5, 100, true, false),
  fc.constantFrom<FilterLiteral>(...TEXTS),
);
const values: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'value' },
    fc.constant(null),
    literals,
    fc.array(tie('value'), { maxLength: 3 }),
    tie('object'),
  ),
  object: fc.dictionary(fc.constantFrom(...NAMES), tie('value'), { maxKeys: 3, depthIdentifier: 'value' }),
})).value;
const objects = fc.dictionary(fc.constantFrom(...NAMES), values, { maxKeys: 4 });
const documents: fc.Arbitrary<FilteredDocument> = fc.record({
  content: objects,
  metadata: fc.option(objects, { nil: undefined }),
});

const paths: fc.Arbitrary<FilterPath> = fc.record({
  root: fc.constantFrom<'content' | 'metadata'>('content', 'metadata'),
  steps: fc
    .tuple(
      fc.constantFrom(...NAMES),
      fc.array(fc.oneof(fc.constantFrom(...NAMES), fc.constantFrom(0, 1, -1, -2)), { maxLength: 2 }),
    )
    .map(([first, rest]) => [first, ...rest]),
});
const patterns = fc.constantFrom('*', '?', 'x*', '*y', '[xy]?', '[^x]*', '[a-z]*', '', 'x[*]', '**y');
const isNegated = fc.boolean();
const leaves: fc.Arbitrary<FilterNode> = fc.oneof(
  fc.record({ kind: fc.constant('has' as const), path: paths, isNegated }),
  fc.record({ kind: fc.constant('equals' as const), path: paths, value: literals, isNegated }),
  fc.record({
    kind: fc.constant('order' as const),
    path: paths,
    operator: fc.constantFrom('<' as const, '<=' as const, '>' as const, '>=' as const),
    value: literals.filter((value): value is string | number => typeof value !== 'boolean'),
  }),
  fc.record({ kind: fc.constant('glob' as const), path: paths, pattern: patterns, isNegated }),
  fc.record({ kind: fc.constant('in' as const), path: paths, values: fc.array(literals, { maxLength: 3 }), isNegated }),
  fc.record({ kind: fc.constant('contains' as const), path: paths, value: literals, isNegated }),
);
const nodes: fc.Arbitrary<FilterNode> = fc.letrec<{ node: FilterNode }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3 },
    leaves,
    fc.record({
      kind: fc.constantFrom('and' as const, 'or' as const),
      parts: fc.array(tie('node'), { minLength: 2, maxLength: 3 }),
    }),
  ),
})).node;

function textOf(node: FilterNode): string {
  switch (node.kind) {
    case 'and':
    case 'or':
      return node.parts.map((part) => `(${textOf(part)})`).join(` ${node.kind} `);
    case 'has':
      return `HAS ${node.isNegated ? 'NOT ' : ''}FIELD ${pathText(node.path)}`;
    case 'equals':
      return `${pathText(node.path)} ${node.isNegated ? '!=' : '='} ${literalText(node.value)}`;
    case 'order':
      return `${pathText(node.path)}${node.operator}${literalText(node.value)}`;
    case 'glob':
      return `${pathText(node.path)} ${not(node)}GLOB '${node.pattern}'`;
    case 'in':
      return `${pathText(node.path)} ${not(node)}IN (${node.values.map(literalText).join(', ')})`;
    case 'contains':
      return `${pathText(node.path)} ${not(node)}CONTAINS ${literalText(node.value)}`;
  }
}

function not({ isNegated }: { readonly isNegated: boolean }): string {
  return isNegated ? 'NOT ' : '';
}

function pathText({ root, steps }: FilterPath): string {
  const text = steps
    .map((step) => (typeof step === 'string' ? `.${step}` : `[${step < 0 ? `#${step}` : step}]`))
    .join('');
  return `${root === 'metadata' ? '@metadata.' : ''}${text.slice(1)}`;
}

function literalText(value: FilterLiteral): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}

/** The rules in the simplest form. */
function judge(node: FilterNode, document: FilteredDocument): boolean {
  if ('parts' in node) {
    const judged = node.parts.map((part) => judge(part, document));
    return node.kind === 'and' ? !judged.includes(false) : judged.includes(true);
  }
  if (node.kind === 'in' && node.values.length === 0) return node.isNegated;
  const found = lookUp(node.path, document);
  if (node.kind === 'has') return found.length > 0 ? !node.isNegated : node.isNegated;
  if (found.length === 0) return false;
  const [value] = found;
  switch (node.kind) {
    case 'equals':
      return same(value, node.value) ? !node.isNegated : node.isNegated;
    case 'order': {
      const { operator, value: bound } = node;
      if (typeof value === 'number' && typeof bound === 'number') return inOrder(Math.sign(value - bound), operator);
      if (typeof value !== 'string' || typeof bound !== 'string') return false;
      return inOrder(value === bound ? 0 : [value, bound].sort()[0] === value ? -1 : 1, operator);
    }
    case 'glob': {
      const fits = typeof value === 'string' && globRegExp(node.pattern).test(value);
      return fits !== node.isNegated;
    }
    case 'in':
      return node.values.some((one) => same(value, one)) !== node.isNegated;
    case 'contains':
      return (Array.isArray(value) && value.some((one) => same(one, node.value))) !== node.isNegated;
  }
}

function lookUp({ root, steps }: FilterPath, document: FilteredDocument): [unknown] | [] {
  let found: [unknown] | [] = document[root] === undefined ? [] : [document[root]];
  for (const step of steps) {
    const [value] = found;
    if (Array.isArray(value)) {
      const at = typeof step === 'number' ? (step < 0 ? value.length + step : step) : -1;
      found = at >= 0 && at < value.length ? [value[at]] : [];
    } else {
      const entries = new Map(Object.entries(value ?? {}));
      const isObject = typeof value === 'object' && value !== null;
      found = isObject && typeof step === 'string' && entries.has(step) ? [entries.get(step)] : [];
    }
  }
  return found;
}

function same(value: unknown, literal: FilterLiteral): boolean {
  if (typeof value === 'boolean' && typeof literal === 'number') return literal === Number(value);
  return typeof value === typeof literal && value === literal;
}

function inOrder(sign: number, operator: '<' | '<=' | '>' | '>='): boolean {
  return { '<': sign < 0, '<=': sign <= 0, '>': sign > 0, '>=': sign >= 0 }[operator];
}

function globRegExp(pattern: string): RegExp {
  const source = pattern.replaceAll(/\[[^\]]+\]|[*?]|[\\^$.+(){}|]/g, (part) => {
    if (part === '*') return '[^]*';
    if (part === '?') return '[^]';
    return part.startsWith('[') ? part : `\\${part}`;
  });
  return new RegExp(`^${source}$`, 'u');
}

describe('random filters', () => {
  it('are parsed to the tree of their text', () =>
    fc.assert(
      fc.property(nodes, (node) => {
        expect(flat(parseFilter(textOf(node)))).to.deep.equal(flat(node));
      }),
      { numRuns: repetitions(500) },
    ));

  it('accept the same documents as a second implementation of the rules', () =>
    fc.assert(
      fc.property(nodes, fc.array(documents, { minLength: 1, maxLength: 8 }), (node, some) => {
        const predicate = compileFilter(textOf(node));
        for (const document of some) expect(predicate?.(document)).to.equal(judge(node, document));
      }),
      { numRuns: repetitions(2000) },
    ));

  it('fail with INVALID or not at all, for any tokens', () => {
    const pieces = fc.constantFrom(
      ...['(', ')', ',', '=', '!=', '<', '<=', "'x'", '"y"', "'", '"', '1', '-2.5', '.5', '1e5', 'a', 'a.b', 'a[0]'],
      ...[
        'a[#-1]',
        '@metadata.a',
        '@',
        'AND',
        'or',
        'NOT',
        'IN',
        'glob',
        'CONTAINS',
        'HAS',
        'FIELD',
        'true',
        '#',
        '\u0000',
      ],
      ...['😀', 'é', ' '],
    );
    const texts = fc.oneof(
      fc.array(pieces, { maxLength: 20 }).map((some) => some.join(' ')),
      fc.string({ unit: 'binary' }),
    );
    fc.assert(
      fc.property(texts, objects, (text, content) => {
        try {
          compileFilter(text)?.({ content });
        } catch (error) {
          if (!isMillraceError(error, 'INVALID')) throw error;
          expect(error.details.at).to.be.within(1, text.length + 1);
        }
      }),
      { numRuns: repetitions(1000) },
    );
  });
});

/** Nested groups of the same kind stay separate only with parentheses. */
function flat(node: FilterNode): unknown {
  return node.kind === 'and' || node.kind === 'or' ? { kind: node.kind, parts: node.parts.map(flat) } : node;
}
