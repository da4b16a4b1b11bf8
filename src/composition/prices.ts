/** The operator's price list, from the settings. */
import type { Config } from '../config/index.js';
import type { Prices } from '../domain/statistics/index.js';

export function pricesOf({ prices }: Config): Prices {
  const shared = {
    centsPerGb: prices.bandwidthPriceCents,
    freeBandwidthBytesPerMonth: prices.freeBandwidthBytes,
  };
  const stored = { centsPerGbMonth: prices.storagePriceCents, freeStorageBytes: prices.freeStorageBytes };
  return {
    kv: { centsPer100kCommands: prices.kvPriceCents, ...stored, ...shared },
    queue: { centsPer100kMessages: prices.queuePriceCents, ...shared },
    search: { centsPer100kRequests: prices.searchPriceCents, ...stored, ...shared },
  };
}
