/**
 * Sends commands to the control actor: directly into its mailbox in this process, over the bus to another. Answers
 * travel in the encoding of codec/control.
 */
import {
  decodeControlCommand,
  decodeControlReply,
  encodeControlCommand,
  encodeControlReply,
} from '../../codec/control/index.js';
import { type ControlCommand, type ControlReply, rowOfControl } from '../../domain/control/index.js';
import type { Bus } from '../../ports/index.js';
import { CONTROL_SHARD } from '../../protocol/index.js';
import {
  type AnswerMemoryLimits,
  type MakeWork,
  type ShardActor,
  type ShardCaller,
  type ShardHost,
  ShardServer,
} from '../runtime/index.js';
import type { ControlClient } from './control-client.js';
import { ControlWork } from './control-work.js';

export class ControlGateway implements ControlClient {
  constructor(
    private readonly caller: ShardCaller,
    /** Undefined in a process that never owns the control shard. */
    private readonly host: ShardHost<ControlWork> | undefined,
  ) {}

  async send(command: ControlCommand): Promise<ControlReply> {
    const actor = this.host?.actorOf(CONTROL_SHARD);
    if (actor !== undefined && actor.state !== 'draining') return submit(actor, command);
    const body = encodeControlCommand(command);
    const isRead = rowOfControl(command).isRead === true;
    return decodeControlReply(await this.caller.call({ shard: CONTROL_SHARD, body, isRead }));
  }
}

function submit(actor: ShardActor<ControlWork>, command: ControlCommand): Promise<ControlReply> {
  return new Promise((resolve, reject) => actor.submit(new ControlWork(command, resolve, reject)));
}

/** Serves commands of other processes. */
export function serveControl(
  bus: Bus,
  actor: ShardActor<ControlWork>,
  limits: AnswerMemoryLimits,
): ShardServer<ControlWork> {
  const workFor: MakeWork<ControlWork> = (body, commandId, onAnswer, onFailure) =>
    new ControlWork(decodeControlCommand(body), (reply) => onAnswer(encodeControlReply(reply)), onFailure, commandId);
  return new ShardServer(bus, actor, limits, workFor);
}
