/**
 * The opaque token of the last write that an answer has seen. Reads here are linearizable, so whatever a
 * client sends back is accepted and needs no waiting for; the token only has to move with every write.
 */

/**
 * One token for an answer of several partitions: each partition's with its index, so that two partitions at
 * the same position give different ones. Undefined when none was asked.
 * @param tokens in order of partition, undefined for one that was not asked
 */
export function joinSyncTokens(tokens: readonly (string | undefined)[]): string | undefined {
  let joined: string | undefined;
  for (let index = 0; index < tokens.length; index += 1) {
    const token = tokens[index];
    if (token !== undefined) joined = `${joined === undefined ? '' : `${joined},`}${index}:${token}`;
  }
  return joined;
}
