/** Schemas for records that functions build: the compiler compares their members. */
import { type JsonSchema, record } from './parts.js';

type Names<Value> = Value extends unknown ? keyof Value : never;
type IsThere<Value, Name> = Value extends unknown
  ? Name extends keyof Value
    ? undefined extends Value[Name]
      ? false
      : true
    : false
  : never;

/** Members that may be undefined, which JSON omits, or that some forms of the record lack. */
type Missing<Value> = { [Name in Names<Value>]: false extends IsThere<Value, Name> ? Name : never }[Names<Value>];
type Always<Value> = Exclude<Names<Value>, Missing<Value>>;

/**
 * `recordSchema<ReturnType<typeof queueRecord>>({ … }, { … })`
 * @param always members of every such record. @param mayBeMissing the others
 */
export function recordSchema<Value extends object>(
  always: Readonly<Record<Always<Value>, JsonSchema>>,
  mayBeMissing: Readonly<Record<Missing<Value>, JsonSchema>>,
): JsonSchema {
  return record(always, mayBeMissing);
}
