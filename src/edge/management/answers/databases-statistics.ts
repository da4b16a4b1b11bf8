/** Statistics of all databases of an account together, and of each in this month. */
import { IsInt, IsString } from 'class-validator';
import type { DatabasesSeries } from '../../../ports/index.js';
import { uuidOf } from '../../../protocol/index.js';
import { ListOf, Point } from '../../http/shapes.js';
import { perSecond, perStep } from './points.js';

class DatabaseUseAnswer {
  @IsString() readonly database_id!: string;
  @IsInt() readonly current_keys!: number;
  @IsInt() readonly current_storage!: number;
  @IsInt() readonly current_connections!: number;
  @IsInt() readonly daily_net_commands!: number;
  @IsInt() readonly total_monthly_requests!: number;
  @IsInt() readonly total_monthly_bandwidth!: number;
}

export class DatabasesStatisticsAnswer {
  /** Commands per second, as in the next four. */
  @ListOf(Point) readonly throughput!: readonly Point[];
  @ListOf(Point) readonly read!: readonly Point[];
  @ListOf(Point) readonly write!: readonly Point[];
  @ListOf(Point) readonly hits!: readonly Point[];
  @ListOf(Point) readonly misses!: readonly Point[];
  /** Bytes per step. */
  @ListOf(Point) readonly bandwidth!: readonly Point[];
  /** Milliseconds. */
  @ListOf(Point) readonly latencymean!: readonly Point[];
  @ListOf(Point) readonly latency_99!: readonly Point[];
  @ListOf(DatabaseUseAnswer) readonly databases!: readonly DatabaseUseAnswer[];
}

export function databasesStatisticsAnswer({ times, latency, each, ...series }: DatabasesSeries) {
  return {
    throughput: perSecond(times, series.commands),
    read: perSecond(times, series.reads),
    write: perSecond(times, series.writes),
    hits: perSecond(times, series.hits),
    misses: perSecond(times, series.misses),
    bandwidth: perStep(times, series.bandwidthBytes),
    latencymean: perStep(times, latency.mean),
    latency_99: perStep(times, latency.p99),
    databases: each.map((use) => ({
      database_id: uuidOf(use.id),
      current_keys: use.keys,
      current_storage: use.storageBytes,
      current_connections: use.connections,
      daily_net_commands: use.commandsToday,
      total_monthly_requests: use.commandsThisMonth,
      total_monthly_bandwidth: use.bandwidthBytesThisMonth,
    })),
  };
}
