/** Bodies of calls about queue accounts. */
import { IsIn, IsInt, IsString, Max, Min } from 'class-validator';
import {
  ACCOUNT_BUDGET_DOLLARS,
  type AccountPlanName,
  QUEUE_REGIONS,
  SETTABLE_ACCOUNT_PLANS,
} from '../../../domain/control/index.js';
import { invalid } from '../../http/refused.js';

export class SetQueuePlanRequest {
  @IsIn(SETTABLE_ACCOUNT_PLANS)
  readonly plan_name!: AccountPlanName;
}

export class QueueBudgetRequest {
  /** Dollars per month: 0 for no limit, or 20 to 10000. */
  @Max(ACCOUNT_BUDGET_DOLLARS.high)
  @Min(0)
  @IsInt()
  readonly budget!: number;
}

/** @throws Refused 400 */
export function queueBudgetOf({ budget }: QueueBudgetRequest): number {
  const { low, high } = ACCOUNT_BUDGET_DOLLARS;
  if (budget !== 0 && budget < low) throw invalid(`budget: must be 0 for no limit, or ${low} to ${high} dollars`);
  return budget;
}

export class CreateQueueRequest {
  @IsIn(QUEUE_REGIONS)
  readonly region!: (typeof QUEUE_REGIONS)[number];
}

export class MoveQueueRequest {
  @IsString()
  readonly msgq_id!: string;

  @IsString()
  readonly target_team_id!: string;
}
