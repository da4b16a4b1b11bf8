/** What the owner of a partition tells the processes that listen to it ↔ bytes. */
import { bothWays } from '../../kernel/schema/index.js';
import { kvDelivery } from '../../messages/index.js';

/** @throws INVALID */
export const [encodeKvDelivery, decodeKvDelivery] = bothWays(kvDelivery, 'what a partition tells', 'INVALID');
