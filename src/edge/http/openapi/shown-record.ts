/** Schemas of what functions make for answers: the compiler holds the members of both against each other. */
import { type JsonSchema, record } from './parts.js';

type Names<Shown> = Shown extends unknown ? keyof Shown : never;
type IsThere<Shown, Name> = Shown extends unknown
  ? Name extends keyof Shown
    ? undefined extends Shown[Name]
      ? false
      : true
    : false
  : never;

/** Members that may be undefined, which JSON leaves out, or that some forms of the record do not have. */
type Missing<Shown> = { [Name in Names<Shown>]: false extends IsThere<Shown, Name> ? Name : never }[Names<Shown>];
type Always<Shown> = Exclude<Names<Shown>, Missing<Shown>>;

/**
 * `shownRecord<ReturnType<typeof queueRecord>>({ … }, { … })`
 * @param always members that every such record has. @param mayBeMissing the rest
 */
export function shownRecord<Shown extends object>(
  always: Readonly<Record<Always<Shown>, JsonSchema>>,
  mayBeMissing: Readonly<Record<Missing<Shown>, JsonSchema>>,
): JsonSchema {
  return record(always, mayBeMissing);
}
