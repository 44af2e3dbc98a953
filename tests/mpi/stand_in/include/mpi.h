/* The part of MPI 3.1 that weir/mpi uses, for tests without MPI: see stand_in/machine.hpp. */
/* SPDX-License-Identifier: BSL-1.0 */
#ifndef WEIR_TESTS_MPI_STAND_IN_MPI_H
#define WEIR_TESTS_MPI_STAND_IN_MPI_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct stand_in_comm* MPI_Comm;
typedef struct stand_in_group* MPI_Group;
typedef struct stand_in_request* MPI_Request;
typedef struct stand_in_message* MPI_Message;
typedef int MPI_Datatype;
typedef int MPI_Op;
typedef int MPI_Errhandler;
typedef struct {
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
    int bytes;
    int cancelled;
} MPI_Status;

MPI_Comm stand_in_world(void);
#define MPI_COMM_WORLD (stand_in_world())
#define MPI_COMM_NULL ((MPI_Comm)0)
#define MPI_GROUP_NULL ((MPI_Group)0)
#define MPI_REQUEST_NULL ((MPI_Request)0)
#define MPI_MESSAGE_NULL ((MPI_Message)0)
#define MPI_STATUS_IGNORE ((MPI_Status*)0)
#define MPI_STATUSES_IGNORE ((MPI_Status*)0)
#define MPI_IN_PLACE ((void*)1)
#define MPI_ERRORS_RETURN 1
#define MPI_ANY_SOURCE (-2)
#define MPI_ANY_TAG (-3)
#define MPI_UNDEFINED (-32766)

enum { MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE };
enum {
    MPI_SUCCESS, MPI_ERR_BUFFER, MPI_ERR_COUNT, MPI_ERR_TYPE, MPI_ERR_TAG, MPI_ERR_COMM, MPI_ERR_RANK,
    MPI_ERR_REQUEST, MPI_ERR_ROOT, MPI_ERR_GROUP, MPI_ERR_OP, MPI_ERR_ARG, MPI_ERR_UNKNOWN, MPI_ERR_TRUNCATE,
    MPI_ERR_OTHER, MPI_ERR_INTERN, MPI_ERR_PENDING, MPI_ERR_IN_STATUS, MPI_ERR_NO_MEM
};
/* The size of a type is its last hexadecimal digit. */
enum {
    MPI_BYTE = 0x01, MPI_CHAR = 0x11, MPI_INT8_T = 0x21, MPI_UINT8_T = 0x31, MPI_INT16_T = 0x22,
    MPI_UINT16_T = 0x32, MPI_INT32_T = 0x24, MPI_UINT32_T = 0x34, MPI_INT64_T = 0x28, MPI_UINT64_T = 0x38,
    MPI_FLOAT = 0x44, MPI_DOUBLE = 0x48, MPI_LONG_DOUBLE = 0x40
};
enum { MPI_SUM, MPI_MIN, MPI_MAX };

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided);
int MPI_Initialized(int* flag);
int MPI_Finalized(int* flag);
int MPI_Query_thread(int* provided);
int MPI_Finalize(void);
int MPI_Abort(MPI_Comm comm, int status);
int MPI_Error_class(int code, int* error_class);

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made);
int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made);
int MPI_Comm_group(MPI_Comm comm, MPI_Group* group);
int MPI_Group_incl(MPI_Group group, int n, const int ranks[], MPI_Group* made);
int MPI_Group_free(MPI_Group* group);
int MPI_Comm_free(MPI_Comm* comm);
int MPI_Comm_rank(MPI_Comm comm, int* rank);
int MPI_Comm_size(MPI_Comm comm, int* size);
int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler);

int MPI_Isend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request);
int MPI_Irecv(void* into, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request);
int MPI_Recv(void* into, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status);
int MPI_Iprobe(int from, int tag, MPI_Comm comm, int* flag, MPI_Status* status);
int MPI_Improbe(int from, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status);
int MPI_Imrecv(void* into, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request);

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status);
int MPI_Testsome(int count, MPI_Request requests[], int* num_done, int places[], MPI_Status statuses[]);
int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]);
int MPI_Wait(MPI_Request* request, MPI_Status* status);
int MPI_Request_free(MPI_Request* request);
int MPI_Cancel(MPI_Request* request);
int MPI_Test_cancelled(const MPI_Status* status, int* flag);
int MPI_Get_count(const MPI_Status* status, MPI_Datatype type, int* count);

int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request);
int MPI_Ibcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request);
int MPI_Iallreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request);
int MPI_Ireduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm, MPI_Request* request);
int MPI_Iallgather(const void* from, int n, MPI_Datatype type, void* to, int m, MPI_Datatype into, MPI_Comm comm, MPI_Request* request);
int MPI_Igather(const void* from, int n, MPI_Datatype type, void* to, int m, MPI_Datatype into, int root, MPI_Comm comm, MPI_Request* request);
int MPI_Igatherv(const void* from, int n, MPI_Datatype type, void* to, const int counts[], const int places[], MPI_Datatype into, int root, MPI_Comm comm, MPI_Request* request);

#ifdef __cplusplus
}
#endif

#endif
