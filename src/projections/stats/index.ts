export { MeterTrimmer } from './meter-trimmer.js';
export { StatisticsModel, type StatisticsOptions, type StatisticsStatus } from './statistics-model.js';
export { StatsReader } from './stats-reader.js';
export { type StatsCheckpoint, StatsStore } from './stats-store.js';
