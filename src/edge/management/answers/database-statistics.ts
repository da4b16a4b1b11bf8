/** Statistics of a database. Source: docs/guide/management.md, "Statistics". */
import { IsArray, IsBoolean, IsInt, IsNumber, IsOptional, IsString } from 'class-validator';
import { JSONSchema } from 'class-validator-jsonschema/build/decorators.js';
import { dayName, kvCents, momentText, monthCents, type Prices } from '../../../domain/statistics/index.js';
import type { DatabaseSeries } from '../../../ports/index.js';
import { ListOf, NamedPoints, Point, RecordOf } from '../../http/shapes.js';
import { dollars, dollarsOfDays, perDay, perSecond, perStep, recentDays, sumOf } from './points.js';

/** A field for older clients, always null. */
function Gone(): PropertyDecorator {
  return (target, key) => {
    IsOptional()(target, key);
    JSONSchema({ type: 'null' })(target, key as string);
  };
}

export class DatabaseStatisticsAnswer {
  /** The last five days, today last. */
  @IsString({ each: true }) @IsArray() readonly days!: readonly string[];
  @ListOf(Point) readonly dailyrequests!: readonly Point[];
  @ListOf(Point) readonly dailybilling!: readonly Point[];
  @ListOf(Point) readonly bandwidths!: readonly Point[];
  @ListOf(Point) readonly connection_count!: readonly Point[];
  @ListOf(Point) readonly keyspace!: readonly Point[];
  /** Commands per second, as in `read`, `write`, `hits` and `misses`. */
  @ListOf(Point) readonly throughput!: readonly Point[];
  @ListOf(Point) readonly diskusage!: readonly Point[];
  /** Milliseconds, like all latencies. */
  @ListOf(Point) readonly latencymean!: readonly Point[];
  @ListOf(Point) readonly latency_99!: readonly Point[];
  @ListOf(Point) readonly read_latency_mean!: readonly Point[];
  @ListOf(Point) readonly read_latency_99!: readonly Point[];
  @ListOf(Point) readonly write_latency_mean!: readonly Point[];
  @ListOf(Point) readonly write_latency_99!: readonly Point[];
  @ListOf(Point) readonly hits!: readonly Point[];
  @ListOf(Point) readonly misses!: readonly Point[];
  @ListOf(Point) readonly read!: readonly Point[];
  @ListOf(Point) readonly write!: readonly Point[];
  /** Calls per step, by command name. */
  @ListOf(NamedPoints) readonly command_counts!: readonly NamedPoints[];
  /** Without monitors. */
  @RecordOf(Point) readonly monitor_count!: Point;
  @IsInt() readonly daily_net_commands!: number;
  @IsInt() readonly daily_read_requests!: number;
  @IsInt() readonly daily_write_requests!: number;
  @IsInt() readonly dailybandwidth!: number;
  @IsInt() readonly total_monthly_requests!: number;
  @IsInt() readonly total_monthly_read_requests!: number;
  @IsInt() readonly total_monthly_write_requests!: number;
  @IsInt() readonly total_monthly_script_requests!: number;
  @IsInt() readonly total_monthly_bandwidth!: number;
  /** Bytes, averaged over the month's days up to today. */
  @IsInt() readonly total_monthly_storage!: number;
  @IsInt() readonly current_storage!: number;
  @IsNumber() readonly total_monthly_billing!: number;
  @IsBoolean() readonly queue_optimized!: boolean;
  @Gone() readonly produce_throughput!: null;
  @Gone() readonly consume_throughput!: null;
  @Gone() readonly dailyproduce!: null;
  @Gone() readonly dailyconsume!: null;
  @IsInt() readonly total_monthly_produce!: number;
  @IsInt() readonly total_monthly_consume!: number;
  @Gone() readonly latencymax!: null;
  @Gone() readonly latencymin!: null;
}

export interface Charges {
  readonly prices: Prices;
  /** The most that a month costs, in dollars; undefined: no maximum. */
  readonly capDollars: number | undefined;
}

export function databaseStatisticsAnswer(
  series: DatabaseSeries,
  nowMs: number,
  charges: Charges,
): DatabaseStatisticsAnswer {
  const { times, latency, readLatency, writeLatency } = series;
  const read = perSecond(times, series.reads);
  const write = perSecond(times, series.writes);
  return {
    ...daysOf(series, nowMs, charges),
    connection_count: perStep(times, series.connections),
    keyspace: perStep(times, series.keys),
    // The sum of the shown values; dividing the sum could differ in the last digit.
    throughput: read.map(({ x, y }, at) => ({ x, y: y + (write[at]?.y ?? 0) })),
    diskusage: perStep(times, series.storageBytes),
    latencymean: perStep(times, latency.mean),
    latency_99: perStep(times, latency.p99),
    read_latency_mean: perStep(times, readLatency.mean),
    read_latency_99: perStep(times, readLatency.p99),
    write_latency_mean: perStep(times, writeLatency.mean),
    write_latency_99: perStep(times, writeLatency.p99),
    hits: perSecond(times, series.hits),
    misses: perSecond(times, series.misses),
    read,
    write,
    command_counts: series.commandCounts.map(({ name, counts }) => ({
      metric_identifier: name,
      data_points: perStep(times, counts),
    })),
    monitor_count: { x: momentText(nowMs), y: 0 },
    current_storage: series.current.storageBytes,
    queue_optimized: false,
    produce_throughput: null,
    consume_throughput: null,
    dailyproduce: null,
    dailyconsume: null,
    total_monthly_produce: 0,
    total_monthly_consume: 0,
    latencymax: null,
    latencymin: null,
  };
}

function daysOf({ days }: DatabaseSeries, nowMs: number, { prices, capDollars }: Charges) {
  const { lastFive, today, known, month } = recentDays(days, nowMs);
  const cents = kvCents(days, prices);
  const billings = dollarsOfDays(days, cents);
  const billingByDay = new Map(days.map(({ day }, at) => [day, billings[at] as number]));
  const requests = sumOf(month, ({ commands }) => commands);
  const writes = sumOf(month, ({ writes }) => writes);
  const { commands = 0, writes: writesToday = 0, bandwidthBytes = 0 } = known.get(today) ?? {};
  const billing = dollars(monthCents(days, cents, today));
  return {
    days: lastFive.map(dayName),
    dailyrequests: perDay(lastFive, nowMs, (day) => known.get(day)?.commands ?? 0),
    dailybilling: perDay(lastFive, nowMs, (day) => billingByDay.get(day) ?? 0),
    bandwidths: perDay(lastFive, nowMs, (day) => known.get(day)?.bandwidthBytes ?? 0),
    daily_net_commands: commands,
    daily_read_requests: commands - writesToday,
    daily_write_requests: writesToday,
    dailybandwidth: bandwidthBytes,
    total_monthly_requests: requests,
    total_monthly_read_requests: requests - writes,
    total_monthly_write_requests: writes,
    total_monthly_script_requests: sumOf(month, ({ scripts }) => scripts),
    total_monthly_bandwidth: sumOf(month, ({ bandwidthBytes }) => bandwidthBytes),
    total_monthly_storage: Math.round(sumOf(month, ({ storageBytes }) => storageBytes) / Math.max(1, month.length)),
    total_monthly_billing: capDollars === undefined ? billing : Math.min(billing, capDollars),
  };
}
