/** A validation rule that class-validator does not have, with its OpenAPI schema. */
import { ValidateBy, type ValidationArguments } from 'class-validator';
import { JSONSchema } from 'class-validator-jsonschema/build/decorators.js';

type Schema = Exclude<Parameters<typeof JSONSchema>[0], (...parameters: never[]) => unknown>;

const NAMES = new Set<string>();

/** Names of these rules: the document takes their schema from the rule itself. */
export const DESCRIBED_RULES: ReadonlySet<string> = NAMES;

export function describedRule(
  name: string,
  validate: (value: unknown) => boolean,
  text: string,
  schema: Schema,
): PropertyDecorator {
  NAMES.add(name);
  const defaultMessage = (about?: ValidationArguments) => `${about?.property} ${text}`;
  const judges = ValidateBy({ name, validator: { validate, defaultMessage } });
  return (target, key) => {
    judges(target, key);
    JSONSchema(schema)(target, key as string);
  };
}
