/**
 * Bodies and queries as classes. The rules on their fields validate a request and describe it in the OpenAPI
 * document. Members without a field are ignored; `null` counts as missing.
 */
import { getMetadataStorage, type ValidationError, validateSync } from 'class-validator';
import { invalid, type RefusedRequest } from './refused.js';

// biome-ignore lint/suspicious/noExplicitAny: only the instances of the class matter here, not its constructor
export type ClassOf<Fields extends object> = abstract new (...parameters: any[]) => Fields;

const FIELDS = new WeakMap<ClassOf<object>, readonly string[]>();

/** Names of the fields with rules. */
export function fieldsOf(type: ClassOf<object>): readonly string[] {
  let names = FIELDS.get(type);
  if (names === undefined) {
    const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', true, false);
    names = [...new Set(rules.map(({ propertyName }) => propertyName))];
    FIELDS.set(type, names);
  }
  return names;
}

/**
 * Fills the fields without validating. @param members returns a field's value by its name; `null` and undefined:
 * missing
 */
export function filled<Fields extends object>(type: ClassOf<Fields>, members: (name: string) => unknown): Fields {
  const request = Object.create(type.prototype) as Record<string, unknown>;
  for (const name of fieldsOf(type)) request[name] = members(name) ?? undefined;
  return request as Fields;
}

/** @param given any value; one that is not an object has no members. @throws Refused 400 `<field>: …` */
export function requestOf<Fields extends object>(type: ClassOf<Fields>, given: unknown): Fields {
  const members = typeof given === 'object' && given !== null && !Array.isArray(given) ? given : {};
  const request = filled(type, (name) => (Object.hasOwn(members, name) ? members[name as never] : undefined));
  const [problem] = validateSync(request, { stopAtFirstError: true, forbidUnknownValues: false });
  if (problem !== undefined) throw refusedFor(problem);
  return request;
}

function refusedFor({ property, value, constraints }: ValidationError): RefusedRequest {
  if (value === undefined) return invalid(`${property}: is required`);
  const [text = 'is not valid'] = Object.values(constraints ?? {});
  return invalid(`${property}: ${text.startsWith(`${property} `) ? text.slice(property.length + 1) : text}`);
}
