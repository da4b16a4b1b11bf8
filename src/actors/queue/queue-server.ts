/** The other end of the gateway: commands of other processes for a shard that this one owns. */
import { decodeQueueCommand, encodeQueueReply } from '../../codec/queue/index.js';
import { rowOf } from '../../domain/queue/index.js';
import { MillraceError } from '../../kernel/index.js';
import type { Bus } from '../../ports/index.js';
import {
  type AnswerMemoryLimits,
  type MakeWork,
  type ShardActor,
  ShardServer,
  type SilenceWatch,
} from '../runtime/index.js';
import { QueueWork } from './queue-work.js';

export function serveQueueShard(
  bus: Bus,
  actor: ShardActor<QueueWork>,
  limits: AnswerMemoryLimits,
  silence?: SilenceWatch,
): ShardServer<QueueWork> {
  const workFor: MakeWork<QueueWork> = (body, commandId, onAnswer, onFailure) => {
    const { account, command } = decodeQueueCommand(body);
    if (rowOf(command).isOfTheActor) throw new MillraceError('INVALID', `${command.type} is not for others to send`);
    return new QueueWork(account, command, (reply) => onAnswer(encodeQueueReply(reply)), onFailure, commandId);
  };
  return new ShardServer(bus, actor, limits, workFor, silence);
}
