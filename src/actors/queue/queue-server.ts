/** The other end of the gateway: commands of other processes for a shard that this one owns. */
import { decodeQueueCommand, encodeQueueReply } from '../../codec/queue/index.js';
import { type QueueReply, rowOf } from '../../domain/queue/index.js';
import { type CommandId, MillraceError } from '../../kernel/index.js';
import type { Bus } from '../../ports/index.js';
import { type AnswerMemoryLimits, type ShardActor, ShardServer, type SilenceWatch } from '../runtime/index.js';
import { QueueWork } from './queue-work.js';

export function serveQueueShard(
  bus: Bus,
  actor: ShardActor<QueueWork>,
  limits: AnswerMemoryLimits,
  silence?: SilenceWatch,
): ShardServer<QueueWork> {
  const workFor = (
    body: Uint8Array,
    commandId: CommandId,
    onAnswer: (body: Uint8Array) => void,
    onFailure: (error: MillraceError) => void,
  ) => {
    const { account, command } = decodeQueueCommand(body);
    if (rowOf(command).isOfTheActor) throw new MillraceError('INVALID', `${command.type} is not for others to send`);
    const onReply = (reply: QueueReply) => onAnswer(encodeQueueReply(reply));
    return new QueueWork(account, command, onReply, onFailure, commandId);
  };
  return new ShardServer(bus, actor, limits, workFor, silence);
}
