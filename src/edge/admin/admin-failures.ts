/** How a failure is told to an operator. */
import { isMillraceError } from '../../kernel/index.js';
import { managementRefusalOf } from '../error-map.js';
import { invalid, Refused } from '../http/refused.js';

/** What is wrong with a moment, only the journal knows: its own words say it. Defects of ours say nothing. */
export function refusedBy(failure: unknown): Refused {
  if (failure instanceof Refused) return failure;
  if (isMillraceError(failure) && failure.code === 'INVALID') return invalid(failure.message);
  return new Refused(managementRefusalOf(failure));
}
