/**
 * The value of a key of type `search`: the definition of an index. It never changes. The contents of the index are not
 * part of the value: they are made from the keys that it covers (`full-text-indexes.ts`).
 */
import type { ByteString } from '../../../kernel/index.js';
import { bytesOfText } from '../../../kernel/index.js';
import type { IndexDefinition, IndexField } from '../../full-text/index.js';
import type { Collection, UndoRecorder } from '../value.js';

const FIELD_BYTES = 96;
const INDEX_BYTES = 128;

export class FullTextIndex implements Collection {
  readonly kind = 'search';
  readonly size = 1;
  readonly encoding = 'search';
  readonly hasOrder = true;
  readonly bytes: number;
  undo: UndoRecorder | undefined;
  #text: ByteString | undefined;

  constructor(readonly definition: IndexDefinition) {
    let bytes = INDEX_BYTES;
    for (const prefix of definition.prefixes) bytes += prefix.length + 16;
    for (const { path, from = '' } of definition.fields) bytes += FIELD_BYTES + path.length + from.length;
    this.bytes = bytes;
  }

  *rebuild(key: ByteString): Iterable<ByteString[]> {
    yield ['SEARCH.CREATE', key, ...this.contents()];
  }

  /** The words of SEARCH.CREATE after the name. */
  contents(): ByteString[] {
    const { source, prefixes, stream, language, fields } = this.definition;
    const keys = stream === undefined ? ['PREFIX', String(prefixes.length), ...prefixes] : [stream];
    return ['ON', source, ...keys, 'LANGUAGE', language, 'SCHEMA', ...fields.flatMap(wordsOfField)];
  }

  /** The definition as one text; indexes with the same one have the same contents. */
  get text(): ByteString {
    this.#text ??= JSON.stringify(this.contents());
    return this.#text;
  }

  clone(): FullTextIndex {
    return new FullTextIndex(this.definition);
  }

  keepState(): void {}
}

/** A field in the words of SEARCH.CREATE. */
function wordsOfField(field: IndexField): ByteString[] {
  return [bytesOfText(field.path), field.type, ...optionsOfField(field)];
}

export function optionsOfField({ isFast, isWhole, keepsForms, from }: IndexField): ByteString[] {
  const options: ByteString[] = [];
  if (isFast) options.push('FAST');
  if (isWhole) options.push('NOTOKENIZE');
  if (keepsForms) options.push('NOSTEM');
  if (from !== undefined) options.push('FROM', bytesOfText(from));
  return options;
}
