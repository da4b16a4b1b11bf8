/** One RESP client as its commands see it: its state, its endpoint and its requests to partitions. */
import { type ClientLink, ClientState } from './client-state.js';
import { PartitionCalls } from './partition-calls.js';
import type { RespFace } from './resp-face.js';

export class RespClient extends ClientState {
  declare readonly face: RespFace;
  readonly calls: PartitionCalls;

  constructor(face: RespFace, link: ClientLink, id: number, address: string, localAddress: string) {
    super(face, link, id, address, localAddress);
    this.calls = new PartitionCalls(face, this);
  }
}
