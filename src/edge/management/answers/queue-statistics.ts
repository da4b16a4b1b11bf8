/** Statistics of a queue account. Source: docs/guide/management.md, "Statistics". */
import { IsArray, IsInt, IsNumber, IsString } from 'class-validator';
import {
  dayName,
  momentText,
  monthCents,
  queueCents,
  type SeriesTimes,
  sameTimeOn,
} from '../../../domain/statistics/index.js';
import { type AccountSeries, MESSAGE_METRICS, WORKFLOW_METRICS } from '../../../ports/index.js';
import { ListOf, Point } from '../../http/shapes.js';
import type { Charges } from './database-statistics.js';
import { dollars, dollarsOfDays, perStep } from './points.js';

const DAY_MS = 86_400_000;

class DailyRequests extends Point {
  /** Requests of workflows. */
  @IsInt() readonly workflow_message!: number;
  /** Started runs. */
  @IsInt() readonly workflow_run!: number;
}

class MetricSeries {
  @IsString() readonly id!: string;
  @ListOf(Point) readonly data_points!: readonly Point[];
}

export class QueueStatisticsAnswer {
  /** Every day of the current month, future ones included; the next three lists have one point per day. */
  @IsString({ each: true }) @IsArray() readonly days!: readonly string[];
  @ListOf(DailyRequests) readonly daily_requests!: readonly DailyRequests[];
  @ListOf(Point) readonly daily_billings!: readonly Point[];
  @ListOf(Point) readonly daily_bandwidths!: readonly Point[];
  /** This list and the next four have a point per step of the requested period. */
  @ListOf(Point) readonly daily_used!: readonly Point[];
  @ListOf(Point) readonly daily_used_workflow!: readonly Point[];
  @ListOf(Point) readonly daily_bandwidth_used!: readonly Point[];
  @ListOf(MetricSeries) readonly daily_msgq_messages!: readonly MetricSeries[];
  @ListOf(MetricSeries) readonly daily_workflow_messages!: readonly MetricSeries[];
  @IsInt() readonly dlq_message_count!: number;
  @IsNumber() readonly total_monthly_billing!: number;
}

export function queueStatisticsAnswer(
  series: AccountSeries,
  nowMs: number,
  { prices, capDollars }: Charges,
): QueueStatisticsAnswer {
  const { times, days } = series;
  const cents = queueCents(days, prices);
  const billings = dollarsOfDays(days, cents);
  const atTimeOfDay = (day: number) => momentText(sameTimeOn(day, nowMs));
  const billing = dollars(monthCents(days, cents, Math.floor(nowMs / DAY_MS)));
  return {
    days: days.map(({ day }) => dayName(day)),
    daily_requests: days.map(({ day, requests, workflowRequests, workflowRuns }) => ({
      x: atTimeOfDay(day),
      y: requests,
      workflow_message: workflowRequests,
      workflow_run: workflowRuns,
    })),
    daily_billings: days.map(({ day }, at) => ({ x: atTimeOfDay(day), y: billings[at] as number })),
    daily_bandwidths: days.map(({ day, bandwidthBytes }) => ({ x: atTimeOfDay(day), y: bandwidthBytes })),
    daily_used: perStep(times, series.requests),
    daily_used_workflow: perStep(times, series.workflowRequests),
    daily_bandwidth_used: perStep(times, series.bandwidthBytes),
    daily_msgq_messages: metricsOf(times, MESSAGE_METRICS, series.messages),
    daily_workflow_messages: metricsOf(times, WORKFLOW_METRICS, series.workflows),
    dlq_message_count: series.dlqMessages,
    total_monthly_billing: capDollars === undefined ? billing : Math.min(billing, capDollars),
  };
}

/** Every metric is listed, with zeros if it has no data. */
function metricsOf<Metric extends string>(
  times: SeriesTimes,
  metrics: readonly Metric[],
  counts: Readonly<Record<Metric, readonly number[]>>,
): MetricSeries[] {
  return metrics.map((id) => ({ id, data_points: perStep(times, counts[id]) }));
}
