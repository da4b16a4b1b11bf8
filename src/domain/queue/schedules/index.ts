/** Schedules: timetables, and the messages that their ticks make. */
export * from './cron.js';
