/** One RESP client as its commands see it: its state, its endpoint and its requests to partitions. */
import { type ClientLink, ClientState } from './client-state.js';
import { PartitionCalls } from './partition-calls.js';
import type { RespEndpoint } from './resp-endpoint.js';

export class RespClient extends ClientState {
  declare readonly endpoint: RespEndpoint;
  readonly calls: PartitionCalls;

  constructor(endpoint: RespEndpoint, link: ClientLink, id: number, address: string, localAddress: string) {
    super(endpoint, link, id, address, localAddress);
    this.calls = new PartitionCalls(endpoint, this);
  }
}
