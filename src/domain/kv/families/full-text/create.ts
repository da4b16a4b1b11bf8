/** SEARCH.CREATE and the other commands about indexes as a whole. */
import { type ByteString, textOfBytes } from '../../../../kernel/index.js';
import {
  DEFAULT_LANGUAGE,
  FIELD_TYPES,
  type FieldType,
  INDEX_SOURCES,
  type IndexDefinition,
  type IndexField,
  type IndexSource,
  LANGUAGES,
  MAX_FIELDS,
  MAX_INDEXES,
  MAX_PATH_CHARACTERS,
  MAX_PREFIXES,
} from '../../../full-text/index.js';
import { Args } from '../../args.js';
import type { CommandContext, Handler } from '../../command-spec.js';
import { ERRORS, ErrorReply } from '../../reply.js';
import { FullTextIndex } from '../../types/full-text-index.js';

/** A byte that no key pattern of one key has after a prefix. */
const ANY_REST = '\0';

export interface CreateWords {
  readonly definition: IndexDefinition;
  readonly skipsExisting: boolean;
  readonly mayExist: boolean;
}

/** SEARCH.CREATE name … → 1; 0 with EXISTSOK if there is the same index. */
export const create: Handler = (context) => {
  const { args, keyspace, effects, searches } = context;
  const name = args.bytes(1);
  const { definition, skipsExisting, mayExist } = createWordsOf(args);
  const value = new FullTextIndex(definition);
  if (!context.isReplay) {
    const known = keyspace.fetchKind(name, FullTextIndex);
    if (known !== undefined) {
      if (mayExist && String(known.contents()) === String(value.contents())) return 0;
      throw new ErrorReply(`ERR Index ${name} already exists`);
    }
    requireRoom(context);
    requireRights(context, definition);
  }
  if (skipsExisting) searches.skipExisting(value);
  keyspace.set(name, value);
  // From now on its changes are noted.
  if (!context.isReplay) searches.sync();
  effects.push('SEARCH.CREATE', name, ...value.contents());
  context.notify('d', 'search.create', name);
  return 1;
};

function requireRoom({ searches }: CommandContext): void {
  if (searches.size >= MAX_INDEXES) throw new ErrorReply(`ERR A database has at most ${MAX_INDEXES} indexes`);
}

/** An index shows the contents of its keys, so its creator has to have the right to read all of them. */
function requireRights({ permissions, commands }: CommandContext, { prefixes, stream }: IndexDefinition): void {
  const query = commands.rowOf('SEARCH.QUERY');
  if (permissions === undefined || query === undefined) return;
  const samples = stream !== undefined ? [stream] : prefixes.flatMap((prefix) => [prefix, prefix + ANY_REST]);
  for (const key of samples) {
    const refusal = permissions.refusal(query, ['SEARCH.QUERY', key]);
    if (refusal !== undefined) throw refusal;
  }
}

/** The words of SEARCH.CREATE. @throws ErrorReply */
export function createWordsOf(args: Args): CreateWords {
  let at = 2;
  let skipsExisting = false;
  let mayExist = false;
  let source: IndexSource | undefined;
  let stream: ByteString | undefined;
  let prefixes: readonly ByteString[] = [];
  let language = DEFAULT_LANGUAGE;
  for (;;) {
    const option = args.option(at);
    at += 1;
    if (option === 'SKIPINITIALSCAN') skipsExisting = true;
    else if (option === 'EXISTSOK') mayExist = true;
    else if (option === 'ON') {
      source = sourceOf(args.option(at));
      at += 1;
      if (source === 'STREAM') {
        stream = args.bytes(at);
        at += 1;
      }
    } else if (option === 'PREFIX') {
      const count = args.count(at, 1, new ErrorReply('ERR PREFIX expects the number of prefixes'));
      if (count > MAX_PREFIXES) throw new ErrorReply(`ERR An index has at most ${MAX_PREFIXES} prefixes`);
      args.bytes(at + count);
      prefixes = args.words.slice(at + 1, at + 1 + count);
      at += 1 + count;
    } else if (option === 'LANGUAGE') {
      language = args.bytes(at).toLowerCase();
      if (!LANGUAGES.includes(language)) throw new ErrorReply(`ERR Unknown language: ${args.bytes(at)}`);
      at += 1;
    } else if (option === 'SCHEMA') break;
    else throw ERRORS.syntax;
  }
  if (source === undefined || (source === 'STREAM') !== (prefixes.length === 0)) throw ERRORS.syntax;
  const fields = fieldsOf(args, at);
  return { definition: { source, prefixes, stream, language, fields }, skipsExisting, mayExist };
}

/** The index of a definition's text, as `FullTextIndex.text` has it. */
export function indexOfText(name: ByteString, text: ByteString): FullTextIndex {
  const words = JSON.parse(text) as ByteString[];
  return new FullTextIndex(createWordsOf(new Args(['SEARCH.CREATE', name, ...words])).definition);
}

function sourceOf(word: string): IndexSource {
  const source = INDEX_SOURCES.find((known) => known === word);
  if (source === undefined) throw new ErrorReply(`ERR Unknown data type: ${word}`);
  return source;
}

function fieldsOf(args: Args, from: number): IndexField[] {
  const fields: IndexField[] = [];
  const paths = new Set<ByteString>();
  for (let at = from; at < args.length; ) {
    const path = args.bytes(at);
    const type = typeOf(args.bytes(at + 1));
    at += 2;
    if (path === '' || path.length > MAX_PATH_CHARACTERS) throw new ErrorReply('ERR A field has a path');
    if (paths.has(path)) throw new ErrorReply(`ERR The field ${path} is in the schema twice`);
    paths.add(path);
    let [isFast, isWhole, keepsForms] = [false, false, false];
    let source: string | undefined;
    for (; at < args.length; at += 1) {
      const option = args.option(at);
      // A path may be spelt like an option: a type follows it.
      if (isType(args.words[at + 1]) && option !== 'FROM') break;
      if (option === 'FAST') isFast = true;
      else if (option === 'NOTOKENIZE') isWhole = true;
      else if (option === 'NOSTEM') keepsForms = true;
      else if (option === 'FROM') {
        at += 1;
        source = textOfBytes(args.bytes(at));
      } else break;
    }
    requireFit(path, type, isFast, isWhole || keepsForms);
    fields.push({ path: textOfBytes(path), type, isFast, isWhole, keepsForms, from: source });
    if (fields.length > MAX_FIELDS) throw new ErrorReply(`ERR An index has at most ${MAX_FIELDS} fields`);
  }
  if (fields.length === 0) throw ERRORS.syntax;
  return fields;
}

function requireFit(path: ByteString, type: FieldType, isFast: boolean, isOfWords: boolean): void {
  if (isOfWords && type !== 'TEXT') {
    throw new ErrorReply(`ERR NOTOKENIZE and NOSTEM are for fields of type TEXT: ${path}`);
  }
  if (isFast && (type === 'TEXT' || type === 'FACET')) {
    throw new ErrorReply(`ERR FAST is not for fields of type ${type}: ${path}`);
  }
}

function isType(word: ByteString | undefined): boolean {
  return word !== undefined && (FIELD_TYPES as readonly string[]).includes(word.toUpperCase());
}

function typeOf(word: ByteString): FieldType {
  const type = FIELD_TYPES.find((known) => known === word.toUpperCase());
  if (type === undefined) throw new ErrorReply(`ERR Unknown field type: ${word}`);
  return type;
}
