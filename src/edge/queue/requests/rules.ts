/** Field rules that class-validator does not have. */
import { ValidateBy, type ValidationArguments } from 'class-validator';
import { nameProblem } from '../../../domain/queue/index.js';

/** A name that callers choose: of a queue, a group, a schedule. */
export function IsResourceName(): PropertyDecorator {
  return ValidateBy({
    name: 'isName',
    validator: {
      validate: (value: unknown) => typeof value === 'string' && nameProblem('', value) === undefined,
      defaultMessage: (about?: ValidationArguments) => {
        const { property = '', value } = about ?? {};
        return typeof value === 'string' ? (nameProblem(property, value) ?? '') : `${property} must be a string`;
      },
    },
  });
}
