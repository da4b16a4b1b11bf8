/** Checks JSON bodies against the rules on the fields of a request class. */
import { type ValidationError, validateSync } from 'class-validator';
import { invalid, type RefusedRequest } from './refused.js';
import { type ClassOf, fieldsOf, filled } from './request-class.js';

/** @throws Refused 400 with the first invalid field */
export function checked<Request extends object>(request: Request): Request {
  const [problem] = validateSync(request, { stopAtFirstError: true, forbidUnknownValues: false });
  if (problem !== undefined) throw refusedFor(problem, '');
  return request;
}

/** A request of a class with only its fields as members. @throws Refused 400 */
export function checkedMembers<Request extends object>(
  type: ClassOf<Request>,
  members: ReadonlyMap<string, unknown>,
): Request {
  const known = fieldsOf(type);
  const unknown = [...members.keys()].find((name) => !known.includes(name));
  if (unknown !== undefined) throw invalid(`unknown member ${unknown}`);
  return checked(filled(type, (name) => members.get(name)));
}

/** The members of a body. @throws Refused 400 if the body is not an object */
export function membersOf(body: unknown, subject = 'the body'): Map<string, unknown> {
  return new Map(Object.entries(objectIn(body, subject)));
}

/**
 * The body as it was parsed, for member names that `Object.prototype` does not have. @throws Refused 400 if it is not
 * an object
 */
export function objectIn(body: unknown, subject: string): Readonly<Record<string, unknown>> {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw invalid(`${subject} is not a JSON object`);
  return body as Readonly<Record<string, unknown>>;
}

function refusedFor({ property, constraints, children }: ValidationError, within: string): RefusedRequest {
  const path = /^\d+$/.test(property) ? `${within}[${property}]` : within === '' ? property : `${within}.${property}`;
  const [text] = Object.values(constraints ?? {});
  if (text !== undefined) return invalid(text.startsWith(property) ? `${path}${text.slice(property.length)}` : text);
  return refusedFor((children as ValidationError[])[0] as ValidationError, path);
}
