/** Field rules that class-validator does not have. */
import { ValidateBy, type ValidationArguments } from 'class-validator';
import { isJsonObject, MAX_DOCUMENT_ID_CHARACTERS, vectorProblem } from '../../../domain/search/index.js';
import { nameProblem } from '../search-target.js';

const SURROGATE = /\p{Surrogate}/u;

export function IsIndexName(): PropertyDecorator {
  return rule('isIndexName', nameProblem);
}

/** The id of a document. Numbers were converted to text before. */
export function IsDocumentId(): PropertyDecorator {
  return rule('isDocumentId', idProblem);
}

export function IsDocumentIds(most: number): PropertyDecorator {
  return rule('isDocumentIds', (property, value) => {
    if (!Array.isArray(value)) return `${property} must be an array of strings`;
    if (value.length > most) return `${property} has more than ${most} items`;
    let problem: string | undefined;
    value.some((id, at) => {
      problem = idProblem(`${property}[${at}]`, id);
      return problem !== undefined;
    });
    return problem;
  });
}

export function IsJsonObject(): PropertyDecorator {
  return rule('isJsonObject', (property, value) => (isJsonObject(value) ? undefined : `${property} must be an object`));
}

export function IsVector(): PropertyDecorator {
  return rule('isVector', (property, value) => {
    if (!Array.isArray(value)) return `${property} must be an array of numbers`;
    const problem = vectorProblem(value);
    return problem === undefined ? undefined : `${property}: ${problem}`;
  });
}

export function idProblem(property: string, id: unknown): string | undefined {
  if (typeof id !== 'string') return `${property} must be a string`;
  if (id === '') return `${property} must not be empty`;
  if (id.length > MAX_DOCUMENT_ID_CHARACTERS)
    return `${property} has more than ${MAX_DOCUMENT_ID_CHARACTERS} characters`;
  return SURROGATE.test(id) ? `${property} is not well-formed text` : undefined;
}

/** A number becomes its text. */
export function asId(id: unknown): unknown {
  return typeof id === 'number' ? String(id) : id;
}

function rule(name: string, problemOf: (property: string, value: unknown) => string | undefined): PropertyDecorator {
  return ValidateBy({
    name,
    validator: {
      validate: (value: unknown) => problemOf('', value) === undefined,
      defaultMessage: ({ property = '', value }: Partial<ValidationArguments> = {}) => problemOf(property, value) ?? '',
    },
  });
}
