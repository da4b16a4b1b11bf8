/** Queries and bodies of calls about use and labels. */
import { IsIn, IsOptional, IsString, MaxLength } from 'class-validator';
import { type Label, MAX_ALERT_TARGET } from '../../../domain/control/index.js';
import { describedRule } from '../../http/described-rule.js';

/** Removals and additions together; the object has fewer labels (`MAX_OBJECT_LABELS`). */
const MAX_GIVEN_LABELS = 64;

export class UsageQuery {
  /** Like `2026-11`, in UTC. Default: the present month. */
  @IsString()
  @IsOptional()
  readonly month?: string;

  @IsIn(['json', 'csv'])
  @IsOptional()
  readonly format?: 'json' | 'csv';
}

export class LabelsRequest {
  /** An empty value removes the label. */
  @AreLabels()
  readonly labels!: readonly Label[];
}

export class UsageReportRequest {
  @MaxLength(MAX_ALERT_TARGET)
  @IsString()
  readonly url!: string;
}

function AreLabels(): PropertyDecorator {
  const areLabels = (value: unknown) =>
    Array.isArray(value) && value.length <= MAX_GIVEN_LABELS && value.every(isLabel);
  return describedRule(
    'areLabels',
    areLabels,
    `must be at most ${MAX_GIVEN_LABELS} objects with the texts name and value`,
    {
      type: 'array',
      maxItems: MAX_GIVEN_LABELS,
      items: {
        type: 'object',
        required: ['name', 'value'],
        properties: { name: { type: 'string' }, value: { type: 'string' } },
      },
    },
  );
}

function isLabel(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { name, value: text } = value as { readonly name?: unknown; readonly value?: unknown };
  return typeof name === 'string' && typeof text === 'string';
}
