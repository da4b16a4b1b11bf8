/** The fields of the answers about search indexes and indexes of vectors that both have. */
import type { SearchIndex } from '../../../domain/control/index.js';
import { uuidOf } from '../../../protocol/index.js';
import { type Point, unixSeconds } from '../../http/shapes.js';
import type { ManagementCall } from '../management-call.js';

interface IndexPlace {
  readonly endpoint: string;
  /** A word of the record. */
  readonly region: string;
}

/** @throws BAD_CONFIG if the tokens were sealed with another key file */
export function indexAnswer(call: ManagementCall, index: SearchIndex, place: IndexPlace, throughput: readonly Point[]) {
  const { limits, tokens } = index;
  const { secrets } = call.endpoint;
  const shown = call.maySeeSecrets('indexes', index.id) ? tokens : undefined;
  return {
    customer_id: call.customerId,
    id: uuidOf(index.id),
    name: index.name,
    endpoint: place.endpoint,
    type: index.type,
    region: place.region,
    token: shown === undefined ? '' : call.writingSecret(secrets.open(shown.token), 'indexes', index.id),
    read_only_token: shown === undefined ? '' : secrets.open(shown.readOnlyToken),
    max_vector_count: limits.maxVectorCount,
    max_daily_updates: limits.maxDailyUpdates,
    max_daily_queries: limits.maxDailyQueries,
    max_monthly_bandwidth: limits.maxMonthlyBandwidth,
    max_writes_per_second: limits.maxWritesPerSecond,
    max_query_per_second: limits.maxQueryPerSecond,
    max_reads_per_request: limits.maxReadsPerRequest,
    max_writes_per_request: limits.maxWritesPerRequest,
    creation_time: unixSeconds(index.createdAtMs),
    throughput_vector: throughput,
  };
}
