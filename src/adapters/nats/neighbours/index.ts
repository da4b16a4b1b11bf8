/** Direct connections between the processes of one machine. */
export type { NeighbourAnswer, NeighbourOutcome } from './neighbour-link.js';
export { Neighbours } from './neighbours.js';
