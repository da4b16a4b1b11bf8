/** Codec of messages from the owner of a partition to the processes that listen to it. */
import { bothWays } from '../../kernel/schema/index.js';
import { kvDelivery } from '../../protocol/index.js';

/** @throws INVALID */
export const [encodeKvDelivery, decodeKvDelivery] = bothWays(kvDelivery, 'what a partition tells', 'INVALID');
