/** Rules for fields that class-validator has none for, each with what the OpenAPI document says of it. */
import { ValidateBy, type ValidationArguments } from 'class-validator';
import { JSONSchema } from 'class-validator-jsonschema';
import { isEmail, isIpv4Block, MAX_NAME_CHARACTERS } from '../../../domain/control/index.js';

type Schema = Exclude<Parameters<typeof JSONSchema>[0], (...parameters: never[]) => unknown>;

/** Names of the rules: what the document says of them stands beside them, and follows from nothing else. */
export const OUR_RULES = ['isName', 'isMailbox', 'areIpv4Blocks'] as const;

/** A name that people choose: 1 to 64 characters, none of them a control character; no name is taken. */
export function IsName(): PropertyDecorator {
  return rule('isName', isName, `must be 1 to ${MAX_NAME_CHARACTERS} characters without control characters`, {
    type: 'string',
    minLength: 1,
    maxLength: MAX_NAME_CHARACTERS,
  });
}

/** Without a colon: credentials are split at the first one. */
export function IsMailbox(): PropertyDecorator {
  return rule('isMailbox', isMailbox, 'must be an e-mail address', { type: 'string', format: 'email' });
}

/** `203.0.113.7` or `203.0.113.0/24`. */
export function AreIpv4Blocks(): PropertyDecorator {
  const areBlocks = (value: unknown) =>
    Array.isArray(value) && value.every((each) => typeof each === 'string' && isIpv4Block(each));
  return rule('areIpv4Blocks', areBlocks, 'must be a list of IPv4 addresses or CIDR blocks', {
    type: 'array',
    items: { type: 'string' },
  });
}

function isName(value: unknown): boolean {
  if (typeof value !== 'string' || value === '' || value.length > 2 * MAX_NAME_CHARACTERS) return false;
  return [...value].length <= MAX_NAME_CHARACTERS && !/\p{Cc}|\p{Cs}/u.test(value);
}

function isMailbox(value: unknown): boolean {
  return typeof value === 'string' && isEmail(value) && !value.includes(':');
}

function rule(
  name: (typeof OUR_RULES)[number],
  validate: (value: unknown) => boolean,
  text: string,
  schema: Schema,
): PropertyDecorator {
  const defaultMessage = (about?: ValidationArguments) => `${about?.property} ${text}`;
  const judges = ValidateBy({ name, validator: { validate, defaultMessage } });
  return (target, key) => {
    judges(target, key);
    JSONSchema(schema)(target, key as string);
  };
}
