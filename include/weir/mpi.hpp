// weir: coroutines and pipelines on many machines, over MPI
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MPI_HPP
#define WEIR_MPI_HPP

#include <weir/mpi/channel.hpp>
#include <weir/mpi/communicator.hpp>
#include <weir/mpi/error.hpp>
#include <weir/mpi/heartbeat.hpp>
#include <weir/mpi/job_checkpoint.hpp>
#include <weir/mpi/rank_report.hpp>
#include <weir/mpi/reactor.hpp>
#include <weir/mpi/wire.hpp>
#include <weir/mpi/world.hpp>

#endif
