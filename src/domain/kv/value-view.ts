/** Values of keys for people and filters: texts, hashes and JSON documents as JSON. */
import { type ByteString, isAscii, shownBytes, textOfBytes } from '../../kernel/index.js';
import { HashValue } from './types/hash-value.js';
import { JsonDocument, stringifyJson } from './types/json/index.js';
import type { Value } from './value.js';

const NUMBER = /^-?(0|[1-9]\d{0,14})(\.\d{1,15})?$/;

/** The approximate size in bytes. */
export function bytesOfValue(value: Value): number {
  return typeof value === 'string' ? value.length : value.bytes;
}

/** Strings, hashes with texts, and JSON documents; undefined: a value that only commands can show. */
export function jsonOfValue(value: Value): unknown {
  if (typeof value === 'string') return shownBytes(value);
  if (value instanceof JsonDocument) return JSON.parse(textOfBytes(stringifyJson(value.root)));
  if (!(value instanceof HashValue)) return undefined;
  return fieldsOf(value, (text) => text);
}

/** The object that a filter reads: a JSON document, a string with one, or a hash; undefined: the value has no fields. */
export function documentOfValue(value: Value): Readonly<Record<string, unknown>> | undefined {
  const found = value instanceof HashValue ? fieldsOf(value, numberOrText) : parsed(value);
  const isObject = typeof found === 'object' && found !== null && !Array.isArray(found);
  return isObject ? (found as Record<string, unknown>) : undefined;
}

function parsed(value: Value): unknown {
  if (value instanceof JsonDocument) return JSON.parse(textOfBytes(stringifyJson(value.root)));
  if (typeof value !== 'string' || !value.startsWith('{')) return undefined;
  try {
    return JSON.parse(textOfBytes(value));
  } catch {
    return undefined;
  }
}

function fieldsOf(hash: HashValue, shown: (text: string) => unknown): Record<string, unknown> | undefined {
  const fields: Record<string, unknown> = Object.create(null);
  for (const [field, value] of hash.entries(0)) {
    if (!isText(field) || !isText(value)) return undefined;
    fields[textOfBytes(field)] = shown(textOfBytes(value));
  }
  return fields;
}

/** Hashes hold texts; a filter compares numbers with numbers. */
function numberOrText(text: string): unknown {
  return NUMBER.test(text) ? Number(text) : text;
}

function isText(bytes: ByteString): boolean {
  return isAscii(bytes) || typeof shownBytes(bytes) === 'string';
}
